import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runAlternating } from './alternating-rounds.ts';
import { chatBody } from './bodies.ts';
import { ROOT } from './gateway-files.ts';
import { startGatewayUnderTest } from './gateway-under-test.ts';
import { has, type Machine } from './machine.ts';
import type { BenchOptions } from './options.ts';
import { spreadOf } from './ratios.ts';
import { type Stage, warmUp } from './scenarios.ts';
import { startDirect, type Target } from './targets.ts';

/** Two processes of each build: they differ by some percent, because V8 compiles functions in a different order. */
const EACH = 2;
const CONNECTIONS = 16;
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

/** Prints the cost of a small chat here and at another commit. Returns the exit code. */
export async function compareBuilds(machine: Machine, options: BenchOptions, ref: string): Promise<number> {
  if (!has('wrk'))
    throw new Error('--against needs wrk (Debian: wrk), because its load can be paused between turns');
  const there = checkout(ref);
  const direct = await startDirect(machine);
  const targets: Target[] = [];
  for (let nth = 0; nth < EACH; nth++) {
    targets.push({ ...(await startGatewayUnderTest(machine, direct)), name: 'here' });
    targets.push({ ...(await startGatewayUnderTest(machine, direct, undefined, there)), name: ref });
  }
  const stage: Stage = { machine, direct, secs: options.secs };
  for (const target of targets) await warmUp(stage, target);
  const load = {
    body: chatBody({ bytes: 100, turns: 1 }),
    connections: CONNECTIONS,
    secs: options.secs * LONGER,
  };
  const ratios: number[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const costs = (await runAlternating(machine, targets, load)).map(({ usPerRequest }) => usPerRequest);
    console.log(targets.map(({ name }, at) => `${name} ${costs[at]?.toFixed(1)} us`).join('   '));
    const of = (name: string) => costs.filter((_, at) => targets[at]?.name === name);
    ratios.push(...pairRatios(of('here'), of(ref)));
  }
  const all = spreadOf(ratios);
  const figures = all && [all.median, all.min, all.max].map((each) => each.toFixed(3)).join(', ');
  console.log(`CPU of a small chat, c=${CONNECTIONS}, here / ${ref} (median, min, max): ${figures}`);
  return 0;
}
