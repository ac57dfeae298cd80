import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import type { Target } from './targets.ts';

const root = join(import.meta.dirname, '..', '..');
/** Maximum output of the fuzzer that is kept, from its end. */
const MAX_OUTPUT = 256 * 1024;

/** Where the fuzzer is; `scripts/test-tools.mjs` gets it. */
export interface Fuzzer {
  /** The program of Jazzer.js. */
  readonly jazzer: string;
  /** Starts a program with a C library that is new enough for it. */
  readonly libc: string;
}

export interface GuidedRun {
  readonly name: string;
  readonly source: string;
  readonly target: Target;
  readonly fuzzer: Fuzzer;
  /** Where bundles, found inputs and findings go. */
  readonly folder: string;
  /** Folders of inputs to start from; they are only read. */
  readonly corpora: readonly string[];
  readonly seed: number;
  /** Limits of the run; the first one ends it. */
  readonly seconds?: number;
  readonly runs?: number;
  /** One input to play again instead of new ones. */
  readonly replay?: string;
  readonly show?: (text: string) => void;
}

export interface GuidedResult {
  /** 0 when inputs were run and nothing was found. */
  readonly code: number;
  readonly executed: number;
  /** Branches of the code that some input has reached, as the fuzzer counts them. */
  readonly coverage: number;
  readonly output: string;
}

/** The limits of a run. An input that needs more than 1.5 GB is a finding. */
const bounds = ({ target, seed, seconds, runs, folder, name }: GuidedRun): string[] => [
  `-seed=${seed}`,
  `-max_len=${target.maxBytes}`,
  ...(seconds === undefined ? [] : [`-max_total_time=${Math.ceil(seconds)}`]),
  ...(runs === undefined ? [] : [`-runs=${runs}`]),
  ...['-rss_limit_mb=1536', '-print_final_stats=1'],
  `-artifact_prefix=${join(folder, 'findings', name)}-`,
];

/**
 * Runs one target under libFuzzer with Jazzer.js: inputs that reach new code are kept and mutated further.
 * New ones go to `<folder>/corpus/<name>`, an input that violates a property to `<folder>/findings`.
 */
export async function guided(run: GuidedRun): Promise<GuidedResult> {
  const file = await bundle(run.name, run.source, join(run.folder, 'bundles'));
  const found = join(run.folder, 'corpus', run.name);
  for (const each of [found, join(run.folder, 'findings')]) mkdirSync(each, { recursive: true });
  const inputs = run.replay === undefined ? [found, ...run.corpora] : [run.replay];
  const child = spawn(
    run.fuzzer.libc,
    [
      ...[process.execPath, '--enable-source-maps', run.fuzzer.jazzer, file, ...inputs],
      ...(run.target.isAsync ? [] : ['--sync']),
      ...['--timeout', String((run.target.seconds ?? 10) * 1000)],
      ...['--includes', join(run.folder, 'bundles'), '--', ...bounds(run)],
    ],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  const take = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-MAX_OUTPUT);
    run.show?.(chunk.toString());
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? 1)));
  const last = (pattern: RegExp) => Number([...output.matchAll(pattern)].at(-1)?.[1] ?? 0);
  // The final statistics are sometimes lost, so the lines before them are used too.
  const executed = last(/stat::number_of_executed_units:\s*(\d+)/g) || last(/^#(\d+)\s/gm);
  return {
    code: code === 0 && executed === 0 ? 1 : code,
    executed,
    coverage: last(/\bcov: (\d+)/g),
    output,
  };
}
