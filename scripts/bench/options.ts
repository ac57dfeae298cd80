import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Scenarios whose name starts with one of these; empty = all but the long ones. */
  readonly only: readonly string[];
  readonly rounds: number;
  /** Seconds of each closed-loop run. */
  readonly secs: number;
  readonly list: boolean;
  /** Where the raw figures go. */
  readonly json: string;
  readonly nginx: boolean;
}

export const USAGE = `npm run bench -- [options]

  --only a,b     scenarios by the start of their name (--list prints the names)
  --rounds 3     rounds; every target runs in each of them
  --secs 2       seconds of each closed-loop run
  --json FILE    raw figures (default .cache/bench.json)
  --no-nginx     leave nginx out
  --list         print the scenarios and leave
`;

const OPTIONS = {
  only: { type: 'string', default: '' },
  rounds: { type: 'string', default: '3' },
  secs: { type: 'string', default: '2' },
  list: { type: 'boolean', default: false },
  json: { type: 'string', default: '.cache/bench.json' },
  'no-nginx': { type: 'boolean', default: false },
} as const;

/** Reads the command line; throws a TypeError or RangeError that says what is wrong with it. */
export function parseOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({ args: [...argv], options: OPTIONS });
  return {
    only: values.only.split(',').filter((name) => name !== ''),
    rounds: atLeastOne('--rounds', values.rounds),
    secs: atLeastOne('--secs', values.secs),
    list: values.list,
    json: values.json,
    nginx: !values['no-nginx'],
  };
}

function atLeastOne(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} takes a whole number from 1`);
  return value;
}
