import type { RequestRecord } from '../contract/system.ts';
import { lacksTokenCounts } from '../contract/token-counts.ts';
import type { Db } from './connection.ts';
import type { WriteHealth } from './write-health.ts';

/** The usage of one model by one tier on one day (UTC). */
export interface UsageRow {
  /** `YYYY-MM-DD`. */
  day: string;
  tier: string;
  /** Empty without a model. */
  model: string;
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** Requests whose token counts are unknown. With one or more, the sums are minimums. */
  uncounted: number;
}

export interface UsageRepo {
  /**
   * Returns rows from `sinceDay` (`YYYY-MM-DD`) on, newest day first, at most 10,000. Throws
   * `store.unavailable`.
   */
  since(sinceDay: string): UsageRow[];
  /**
   * Performs one step of pruning: removes at most 2,000 rows, oldest first, above the row limit and of days
   * before `sinceDay` (null: none). Returns whether there may be more to remove. Never throws.
   */
  prune(bounds: { readonly rows: number; readonly sinceDay: string | null }): boolean;
}

/** Maximum rows per prune. Each removal blocks the event loop for a moment. */
const MAX_REMOVED_PER_STEP = 2_000;
const MAX_LISTED = 10_000;
const FIRST_ERROR_STATUS = 400;

/**
 * Returns the key of a usage row. Refused requests count without a model: their model names are free text
 * from callers and would fill the table.
 */
export function usageKey(record: RequestRecord): [day: string, tier: string, model: string] {
  const served = record.status !== null && record.status < FIRST_ERROR_STATUS;
  return [record.at.slice(0, 10), record.tier, (served ? record.model : null) ?? ''];
}

interface Sums {
  readonly key: ReturnType<typeof usageKey>;
  requests: number;
  prompt: number;
  completion: number;
  uncounted: number;
}

/** Returns one row of sums per day, tier and model. */
function sumsOf(records: readonly RequestRecord[]): Iterable<Sums> {
  const rows = new Map<string, Sums>();
  for (const record of records) {
    const key = usageKey(record);
    const name = key.join('\0');
    const row = rows.get(name) ?? { key, requests: 0, prompt: 0, completion: 0, uncounted: 0 };
    row.requests += 1;
    row.prompt += record.prompt_tokens ?? 0;
    row.completion += record.completion_tokens ?? 0;
    if (lacksTokenCounts(record)) row.uncounted += 1;
    rows.set(name, row);
  }
  return rows.values();
}

/**
 * Usage sums, which are retained longer than the request log. `count` runs in the transaction that writes the
 * requests. `maxRows` is called at each write.
 */
export function usageRepo(
  db: Db,
  faults: WriteHealth,
  maxRows: () => number,
): { repo: UsageRepo; count: (records: readonly RequestRecord[]) => void } {
  const add = db.prepare(
    `INSERT INTO usage (day, tier, model, requests, prompt_tokens, completion_tokens, uncounted)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (day, tier, model) DO UPDATE SET requests = requests + excluded.requests,
       prompt_tokens = prompt_tokens + excluded.prompt_tokens,
       completion_tokens = completion_tokens + excluded.completion_tokens,
       uncounted = uncounted + excluded.uncounted`,
  );
  const trim = db.prepare<[number]>(
    `DELETE FROM usage WHERE seq <= (SELECT seq FROM usage ORDER BY seq DESC LIMIT 1 OFFSET ?)
     ORDER BY seq LIMIT ${MAX_REMOVED_PER_STEP}`,
  );
  const expire = db.prepare<[string]>(
    `DELETE FROM usage WHERE seq IN
       (SELECT seq FROM (SELECT seq, day FROM usage ORDER BY seq LIMIT ${MAX_REMOVED_PER_STEP}) WHERE day < ?)`,
  );
  const since = db.prepare<[string, number], UsageRow>(
    `SELECT day, tier, model, requests, prompt_tokens, completion_tokens, uncounted FROM usage WHERE day >= ?
     ORDER BY day DESC, tier, model LIMIT ?`,
  );
  return {
    repo: {
      since: (day) => faults.read('usage', () => since.all(day, MAX_LISTED)),
      prune({ rows, sinceDay }) {
        let removed = 0;
        faults.attempt('usage', () => {
          removed = trim.run(rows).changes;
          if (sinceDay !== null && removed < MAX_REMOVED_PER_STEP) removed += expire.run(sinceDay).changes;
        });
        return removed >= MAX_REMOVED_PER_STEP;
      },
    },
    count(records) {
      for (const { key, requests, prompt, completion, uncounted } of sumsOf(records)) {
        add.run(...key, requests, prompt, completion, uncounted);
      }
      trim.run(maxRows());
    },
  };
}
