import type { RequestRecord } from '../contract/system.ts';
import type { Db } from './connection.ts';
import type { WriteHealth } from './write-health.ts';

/** What one tier asked of one model on one day (UTC). */
export interface UsageRow {
  /** `YYYY-MM-DD`. */
  day: string;
  tier: string;
  /** Empty when no model was named. */
  model: string;
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
}

export interface UsageRepo {
  /** From `sinceDay` (`YYYY-MM-DD`) on, newest day first, at most 10,000 rows; throws `store.unavailable`. */
  since(sinceDay: string): UsageRow[];
  /**
   * One step of keeping the sums within their bounds: at most 2,000 rows go, the oldest first; days before `sinceDay` (null:
   * none) go. True when there may be more to do. Never throws.
   */
  prune(bounds: { readonly rows: number; readonly sinceDay: string | null }): boolean;
}

/** Rows that one prune removes at most: each one stops the event loop for a moment. */
const MAX_REMOVED_PER_STEP = 2_000;
const MAX_LISTED = 10_000;
const FIRST_ERROR_STATUS = 400;

/** Only answered requests name their model: the names of refused ones are free text from callers and would fill the table. */
export function usageKey(record: RequestRecord): [day: string, tier: string, model: string] {
  const served = record.status !== null && record.status < FIRST_ERROR_STATUS;
  return [record.at.slice(0, 10), record.tier, (served ? record.model : null) ?? ''];
}

interface Sums {
  readonly key: ReturnType<typeof usageKey>;
  requests: number;
  prompt: number;
  completion: number;
}

/** The records as one row of sums for each day, tier and model. */
function sumsOf(records: readonly RequestRecord[]): Iterable<Sums> {
  const rows = new Map<string, Sums>();
  for (const record of records) {
    const key = usageKey(record);
    const name = key.join('\0');
    const row = rows.get(name) ?? { key, requests: 0, prompt: 0, completion: 0 };
    row.requests += 1;
    row.prompt += record.prompt_tokens ?? 0;
    row.completion += record.completion_tokens ?? 0;
    rows.set(name, row);
  }
  return rows.values();
}

/**
 * Sums that outlive the request log; `count` runs inside the transaction that writes the requests. `kept` is asked at each
 * write for the rows that are to stay.
 */
export function usageRepo(
  db: Db,
  faults: WriteHealth,
  maxRows: () => number,
): { repo: UsageRepo; count: (records: readonly RequestRecord[]) => void } {
  const add = db.prepare(
    `INSERT INTO usage (day, tier, model, requests, prompt_tokens, completion_tokens) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (day, tier, model) DO UPDATE SET requests = requests + excluded.requests,
       prompt_tokens = prompt_tokens + excluded.prompt_tokens,
       completion_tokens = completion_tokens + excluded.completion_tokens`,
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
    `SELECT day, tier, model, requests, prompt_tokens, completion_tokens FROM usage WHERE day >= ?
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
      for (const { key, requests, prompt, completion } of sumsOf(records)) {
        add.run(...key, requests, prompt, completion);
      }
      trim.run(maxRows());
    },
  };
}
