import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Scenarios whose name starts with one of these; empty = all of them. */
  readonly only: readonly string[];
  readonly rounds: number;
  /** Seconds of each closed-loop run. */
  readonly secs: number;
  readonly list: boolean;
  readonly help: boolean;
  /** Only the gate: the hot path against the recorded ratios. */
  readonly gate: boolean;
  /** With `gate`: print table rows of the measured ratios and compare nothing. */
  readonly record: boolean;
  /** The file for the counts and failures of the gate; null writes none. */
  readonly report: string | null;
  /** A commit to compare this checkout with; null compares none. */
  readonly compareWith: string | null;
  /** The file for a CPU profile of the gateway; null writes none. */
  readonly profile: string | null;
}

export const USAGE = `npm run bench -- [options]

  --gate         run only the gate: CPU of the hot path as ratios to a bare proxy on the same Node, in about two minutes; exit 1
                 if the median of a measure is at least 1.3 times the ratio in docs/internals/performance.md
  --record       with --gate: print the rows of that table instead of comparing
  --only a,b     scenarios by the start of their name (--list prints the names)
  --rounds 3     rounds; every target runs in each of them (small chats: three times as many)
  --secs 2       seconds of each closed-loop run
  --prof         also profile the gateway during all scenarios: prints its hot functions, writes the profile to artifacts/
                 (best with --only; the profiler slows the gateway down)
  --against REF  only compare the cost of requests here and at that commit, in short alternating turns; --only names
                 measures of the gate (small chat)
  --models       only the rows on real models, which take some minutes each: the time to the first token with a saved conversation,
                 and the speed with predictions from the text
  --report FILE  with --gate: counts of passed, failed and skipped measures, and the failures, as JSON
  --list         print the scenarios and exit
  --help         print this
`;

const OPTIONS = {
  gate: { type: 'boolean', default: false },
  models: { type: 'boolean', default: false },
  record: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  rounds: { type: 'string', default: '3' },
  secs: { type: 'string', default: '2' },
  prof: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  report: { type: 'string' },
  against: { type: 'string' },
} as const;

/** Parses the command line. Throws a TypeError or RangeError that names the invalid option. */
export function parseOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  if (values.record && !values.gate) throw new RangeError('--record works with --gate only');
  return {
    only: values.only.split(',').filter((name) => name !== ''),
    rounds: atLeastOne('--rounds', values.rounds),
    secs: atLeastOne('--secs', values.secs),
    list: values.list,
    help: values.help,
    gate: values.gate,
    record: values.record,
    report: values.report ?? null,
    compareWith: values.against ?? null,
    profile: values.prof ? 'artifacts/bench.cpuprofile' : null,
  };
}

function atLeastOne(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} takes a whole number from 1`);
  return value;
}
