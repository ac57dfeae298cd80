import type { Goal, SeriesLookup } from './goal.ts';
import { GOALS } from './goals.ts';
import type { Spread } from './ratios.ts';
import type { Results } from './rounds.ts';

export interface Verdict {
  readonly what: string;
  readonly scenario: string;
  readonly value: number;
  /** The distribution over all rounds. */
  readonly spread: Spread | null;
  readonly goal: number;
  readonly floor: number;
  readonly verdict: 'goal' | 'floor' | 'MISSED' | 'unknown';
  /** Failed requests in the worst round. Any failure invalidates the figure. */
  readonly failed: number;
}

function compare({ goal, floor, higherIsBetter }: Goal, value: number): Verdict['verdict'] {
  if (!Number.isFinite(value)) return 'unknown';
  const reaches = (bound: number) => (higherIsBetter ? value >= bound : value <= bound);
  if (reaches(goal)) return 'goal';
  return reaches(floor) ? 'floor' : 'MISSED';
}

function verdictOf(goal: Goal, results: Results): Verdict {
  const of: SeriesLookup = (target, figure) => results[goal.scenario]?.[target]?.[figure] ?? [];
  const spread = goal.measure(of);
  const value = spread?.median ?? Number.NaN;
  const failed = Math.max(0, ...of(goal.target, 'bad'));
  const absent = results[goal.scenario]?.[goal.target] === undefined;
  const verdict = absent || failed > 0 ? 'MISSED' : compare(goal, value);
  return {
    what: goal.what,
    scenario: goal.scenario,
    value,
    spread,
    goal: goal.goal,
    floor: goal.floor,
    verdict,
    failed,
  };
}

/**
 * Compares a run with the goals of its scenarios. A figure that our gateway lacks is `MISSED`. A figure without a reference is
 * `unknown`.
 */
export const verdicts = (results: Results): Verdict[] =>
  GOALS.filter(({ scenario }) => results[scenario]).map((goal) => verdictOf(goal, results));
