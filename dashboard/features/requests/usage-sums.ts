import type { UsageView } from '../../../daemon/contract/system.ts';

export type UsageKey = 'day' | 'tier' | 'model';
export interface UsageSum {
  name: string;
  requests: number;
  prompt: number;
  completion: number;
  /** Requests whose token counts are unknown. */
  uncounted: number;
}

type Day = UsageView['days'][number];

/** Groups rows by one key and sums them. Days are sorted newest first, other keys by tokens, largest first. */
export function sumsBy(key: UsageKey, rows: readonly Day[]): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const row of rows) {
    const sum = sums.get(row[key]) ?? { name: row[key], requests: 0, prompt: 0, completion: 0, uncounted: 0 };
    sum.requests += row.requests;
    sum.prompt += row.prompt_tokens;
    sum.completion += row.completion_tokens;
    sum.uncounted += row.uncounted;
    sums.set(row[key], sum);
  }
  const all = [...sums.values()];
  if (key === 'day') return all.sort((a, b) => b.name.localeCompare(a.name));
  return all.sort((a, b) => b.prompt + b.completion - a.prompt - a.completion || b.requests - a.requests);
}

/** Returns how many requests have unknown token counts. */
export const uncountedText = (uncounted: number): string =>
  uncounted === 1
    ? '1 request has no token counts'
    : `${uncounted.toLocaleString('en')} requests have no token counts`;

/** The total of all sums. */
export function totalOf(sums: readonly UsageSum[]): UsageSum {
  return sums.reduce(
    (total, sum) => ({
      name: '',
      requests: total.requests + sum.requests,
      prompt: total.prompt + sum.prompt,
      completion: total.completion + sum.completion,
      uncounted: total.uncounted + sum.uncounted,
    }),
    { name: '', requests: 0, prompt: 0, completion: 0, uncounted: 0 },
  );
}
