import { roundByRound, type Spread, spreadOf } from './ratios.ts';
import type { Results } from './rounds.ts';

/** How a figure of the gateway is compared: with a target of the same round, or as it is. */
type Measure = 'ratio' | 'difference' | 'value' | 'worst round';

export interface Goal {
  readonly what: string;
  readonly scenario: string;
  readonly figure: string;
  readonly measure: Measure;
  /** The target of a ratio or difference. Default: nginx. */
  readonly to?: string;
  /** The worst acceptable value. */
  readonly limit: number;
  /** Whether a higher value is better. */
  readonly higherIsBetter?: true;
}

const cpu = { figure: 'cpu_us_req', measure: 'ratio' } as const;
const value = { measure: 'value' } as const;
const SWAP = 'llama-swap';

/** What must hold in every run of the bench. */
export const GOALS: readonly Goal[] = [
  { what: 'CPU per small chat', scenario: 'chat c=16', ...cpu, limit: 6 },
  { what: 'CPU per small chat', scenario: 'chat c=16', ...cpu, to: SWAP, limit: 0.55 },
  { what: 'p50 at c=1', scenario: 'chat c=1', figure: 'p50_us', measure: 'ratio', limit: 2.2 },
  { what: 'CPU per 64 KB chat', scenario: 'chat 64KB c=16', ...cpu, to: SWAP, limit: 0.75 },
  { what: 'CPU per 4 MB chat', scenario: 'chat 4MB c=4', ...cpu, limit: 4.5 },
  { what: 'CPU per 4 MB chat', scenario: 'chat 4MB c=4', ...cpu, to: SWAP, limit: 1 },
  { what: 'CPU per 64 vectors', scenario: 'embed 64 c=8', ...cpu, limit: 2 },
  { what: 'CPU per 64 vectors, attached', scenario: 'embed 64 attached c=8', ...cpu, limit: 2 },
  { what: '25 MB recordings, peak MB', scenario: 'audio 25MB c=8', figure: 'peak_mb', ...value, limit: 200 },
  { what: 'CPU per token', scenario: 'sse x64', figure: 'cpu_us_tok', measure: 'ratio', limit: 3.5 },
  {
    what: 'CPU per token',
    scenario: 'sse x64',
    figure: 'cpu_us_tok',
    measure: 'ratio',
    to: SWAP,
    limit: 1.1,
  },
  { what: 'first token, ms', scenario: 'sse x64', figure: 'ttft50_ms', measure: 'difference', limit: 1.5 },
  {
    what: 'p99 of token delay',
    scenario: 'sse x256',
    figure: 'late99_us',
    measure: 'ratio',
    to: SWAP,
    limit: 4,
  },
  { what: 'p99 of TTFT', scenario: 'sse x256', figure: 'ttft99_ms', measure: 'ratio', to: SWAP, limit: 4 },
  { what: 'failed of 1000 streams', scenario: 'sse x1000', figure: 'bad', measure: 'worst round', limit: 0 },
  { what: '1000 streams, MB over idle', scenario: 'sse x1000', figure: 'over_idle_mb', ...value, limit: 100 },
  {
    what: 'aborts detected, of 16',
    scenario: 'abort',
    figure: 'aborted_of_16',
    measure: 'worst round',
    limit: 16,
    higherIsBetter: true,
  },
  { what: 'aborts detected within, ms', scenario: 'abort', figure: 'after_ms', ...value, limit: 100 },
  { what: 'first chat after a start, ms', scenario: 'start', figure: 'chat_ms', ...value, limit: 2_000 },
];

export interface Verdict {
  readonly goal: Goal;
  readonly value: number;
  /** The distribution over all rounds. */
  readonly spread: Spread | null;
  /** `unknown`: the target of the comparison did not run. */
  readonly verdict: 'met' | 'MISSED' | 'unknown';
  /** Failed requests in the worst round. Any failure invalidates the figure. */
  readonly failed: number;
}

const OURS = 'ours';

function verdictOf(goal: Goal, targets: Results[string]): Verdict {
  const of = (target: string, figure: string) => targets[target]?.[figure] ?? [];
  const ours = of(OURS, goal.figure);
  const reference = of(goal.to ?? 'nginx', goal.figure);
  const spreads: Readonly<Record<Measure, () => Spread | null>> = {
    ratio: () => roundByRound(ours, reference, (a, b) => a / b),
    difference: () => roundByRound(ours, reference, (a, b) => a - b),
    value: () => spreadOf(ours),
    'worst round': () => spreadOf(ours),
  };
  const spread = spreads[goal.measure]();
  const worst = goal.higherIsBetter ? spread?.min : spread?.max;
  const figure = (goal.measure === 'worst round' ? worst : spread?.median) ?? Number.NaN;
  const failed = goal.figure === 'bad' ? 0 : Math.max(0, ...of(OURS, 'bad'));
  const holds = goal.higherIsBetter ? figure >= goal.limit : figure <= goal.limit;
  const isMissed = targets[OURS] === undefined || failed > 0 || (Number.isFinite(figure) && !holds);
  const verdict = isMissed ? 'MISSED' : Number.isFinite(figure) ? 'met' : 'unknown';
  return { goal, value: figure, spread, verdict, failed };
}

/** Compares a run with the goals of its scenarios. A figure that the gateway lacks is `MISSED`. */
export const verdicts = (results: Results): Verdict[] =>
  GOALS.flatMap((goal) => {
    const targets = results[goal.scenario];
    return targets === undefined ? [] : [verdictOf(goal, targets)];
  });
