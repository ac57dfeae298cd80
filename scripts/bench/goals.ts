import { median, type Ratio, ratioTo } from './ratios.ts';
import type { Results } from './rounds.ts';

interface Goal {
  readonly what: string;
  readonly scenario: string;
  readonly figure: string;
  /** `ratio` and `more`: against nginx; `engine`: ratio to llama-server, at least the goal; `value`: as it stands. */
  readonly by: 'ratio' | 'more' | 'engine' | 'value';
  readonly goal: number;
  /** Beyond it the work is not done. */
  readonly floor: number;
}

/** As quick as llama-server on the same model and as many threads. */
const BESIDE = { figure: 'tok_s', by: 'engine', goal: 1 } as const;

/** What the path of a chat may cost at most, and the engine beside llama-server. */
export const GOALS: readonly Goal[] = [
  {
    what: 'CPU per small chat, c=16',
    scenario: 'chat c=16',
    figure: 'cpu_us_req',
    by: 'ratio',
    goal: 4,
    floor: 6,
  },
  { what: 'p50 at c=1', scenario: 'chat c=1', figure: 'p50_us', by: 'ratio', goal: 1.7, floor: 2.2 },
  {
    what: 'CPU per 4 MB chat',
    scenario: 'chat 4MB c=4',
    figure: 'cpu_us_req',
    by: 'ratio',
    goal: 3,
    floor: 4.5,
  },
  {
    what: 'first token, 64 streams, ms',
    scenario: 'sse x64 20ms',
    figure: 'ttft50_ms',
    by: 'more',
    goal: 0.5,
    floor: 1.5,
  },
  {
    what: 'token lateness, 64 streams',
    scenario: 'sse x64 20ms',
    figure: 'late50_us',
    by: 'ratio',
    goal: 2,
    floor: 3,
  },
  {
    what: 'CPU per token, 64 streams',
    scenario: 'sse x64 20ms',
    figure: 'cpu_us_tok',
    by: 'ratio',
    goal: 2.3,
    floor: 3.5,
  },
  { what: 'abort seen within, ms', scenario: 'abort', figure: 'after_ms', by: 'value', goal: 20, floor: 100 },
  ...['stream', 'whole', 'prefill', 'queued', 'loading'].map((phase) => ({
    what: `left ${phase}, free after ms (p99)`,
    scenario: `leave ${phase}`,
    figure: 'free99_ms',
    by: 'value' as const,
    goal: 50,
    floor: 250,
  })),
  { what: 'tokens/s, 1 request', scenario: 'engine x1', ...BESIDE, floor: 0.95 },
  { what: 'tokens/s, 4 requests', scenario: 'engine x4', ...BESIDE, floor: 0.95 },
  { what: 'tokens/s of a prompt', scenario: 'engine prompt', ...BESIDE, floor: 0.9 },
];

export interface Verdict {
  readonly what: string;
  readonly value: number;
  /** The least and the most of all rounds, where it is a ratio. */
  readonly spread: Ratio | null;
  readonly verdict: 'goal' | 'floor' | 'MISSED' | 'unknown';
}

function measuredBy({ scenario, figure, by }: Goal, results: Results): Pick<Verdict, 'value' | 'spread'> {
  const of = (target: string) => results[scenario]?.[target]?.[figure] ?? [];
  if (by === 'value') return { value: median(of('ours')), spread: null };
  if (by === 'more') return { value: median(of('ours')) - median(of('nginx')), spread: null };
  const spread = ratioTo(of('ours'), of(by === 'engine' ? 'llama.cpp' : 'nginx'));
  return { value: spread?.median ?? Number.NaN, spread };
}

function judged({ by, goal, floor }: Goal, value: number): Verdict['verdict'] {
  if (!Number.isFinite(value)) return 'unknown';
  const reaches = (bound: number) => (by === 'engine' ? value >= bound : value <= bound);
  if (reaches(goal)) return 'goal';
  return reaches(floor) ? 'floor' : 'MISSED';
}

/** How the run stands against each goal that its scenarios measure. */
export function verdicts(results: Results): Verdict[] {
  return GOALS.filter((goal) => results[goal.scenario]).map((goal) => {
    const measured = measuredBy(goal, results);
    return { what: goal.what, ...measured, verdict: judged(goal, measured.value) };
  });
}
