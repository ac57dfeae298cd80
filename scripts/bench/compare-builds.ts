import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runAlternating, type TurnCost } from './alternating-rounds.ts';
import { MEASURES, type Measure } from './gate-measures.ts';
import { ROOT } from './gateway-files.ts';
import { startGatewayUnderTest } from './gateway-under-test.ts';
import { has, type Machine } from './machine.ts';
import type { BenchOptions } from './options.ts';
import { spreadOf } from './ratios.ts';
import { type Stage, warmUp } from './scenarios.ts';
import { startDirect, type Target } from './targets.ts';

/** Two processes of each build: they differ by some percent, because V8 compiles functions in a different order. */
const EACH = 2;
/** Compared when no measure is named. */
const DEFAULT_MEASURE = 'small chat';
/** Factor between the seconds of a closed-loop run and those of a round. */
const LONGER = 20;

function git(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.trim()}`);
  return stdout.trim();
}

/** Unpacks the sources of a commit into a folder with the packages of this checkout. Caches the last commit only. */
function checkout(ref: string): string {
  const commit = git(['rev-parse', '--verify', `${ref}^{commit}`]);
  const all = join(ROOT, '.cache', 'bench-against');
  const folder = join(all, commit);
  if (existsSync(join(folder, 'node_modules'))) return folder;
  rmSync(all, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const unpack = `git archive ${commit} | tar -x -C "$0"`;
  const { status, stderr } = spawnSync('sh', ['-c', unpack, folder], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git archive: ${stderr.trim()}`);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Returns the ratio of each value to each reference. */
export const pairRatios = (values: readonly number[], references: readonly number[]): number[] =>
  values.flatMap((value) => references.map((reference) => value / reference));

/** Returns the measures of the gate whose name starts with one of `only`. Throws when there is none. */
export function comparedMeasures(only: readonly string[]): readonly Measure[] {
  const starts = only.length === 0 ? [DEFAULT_MEASURE] : only;
  const chosen = MEASURES.filter(({ name }) => starts.some((start) => name.startsWith(start)));
  if (chosen.length > 0) return chosen;
  throw new Error(`--against compares ${MEASURES.map(({ name }) => name).join(', ')}`);
}

/** Prints the cost of requests here and at another commit. Returns the exit code. */
export async function compareBuilds(machine: Machine, options: BenchOptions, ref: string): Promise<number> {
  if (!has('wrk'))
    throw new Error('--against needs wrk (Debian: wrk), because its load can be paused between turns');
  const measures = comparedMeasures(options.only);
  const there = checkout(ref);
  const direct = await startDirect(machine);
  const targets: Target[] = [];
  for (let nth = 0; nth < EACH; nth++) {
    targets.push({ ...(await startGatewayUnderTest(machine, direct)), name: 'here' });
    targets.push({ ...(await startGatewayUnderTest(machine, direct, undefined, there)), name: ref });
  }
  const stage: Stage = { machine, direct, secs: options.secs };
  for (const target of targets) await warmUp(stage, target);
  for (const measure of measures) await compareMeasure(stage, targets, measure, options.rounds);
  return 0;
}

/** The part of the CPU time that a figure counts. */
const THREADS = { 'all threads': 'usPerRequest', 'main thread': 'mainUsPerRequest' } as const;

async function compareMeasure(
  { machine, secs }: Stage,
  targets: readonly Target[],
  { name, connections, body }: Measure,
  rounds: number,
): Promise<void> {
  const load = { body: body(), connections, secs: secs * LONGER };
  const costs: TurnCost[][] = [];
  for (let round = 0; round < rounds; round++) {
    const turn = await runAlternating(machine, targets, load);
    console.log(
      turn.map((cost, at) => `${targets[at]?.name} ${cost.usPerRequest.toFixed(1)} us`).join('   '),
    );
    costs.push(turn);
  }
  const isHere = (at: number): boolean => targets[at]?.name === 'here';
  for (const [threads, figure] of Object.entries(THREADS)) {
    const ratios = costs.flatMap((turn) => {
      const of = (here: boolean) => turn.filter((_, at) => isHere(at) === here).map((cost) => cost[figure]);
      return pairRatios(of(true), of(false));
    });
    const all = spreadOf(ratios);
    const figures = all && [all.median, all.min, all.max].map((each) => each.toFixed(3)).join(', ');
    console.log(`${name}, CPU of ${threads}, here / there (median, min, max): ${figures}`);
  }
}
