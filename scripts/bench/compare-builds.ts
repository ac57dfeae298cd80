import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runAlternating } from './alternating-rounds.ts';
import { chatBody } from './bodies.ts';
import { ROOT, startGatewayUnderTest } from './gateway-under-test.ts';
import { has, type Machine } from './machine.ts';
import type { BenchOptions } from './options.ts';
import { spreadOf } from './ratios.ts';
import { type Stage, warmUp } from './scenarios.ts';
import { startDirect, startNginx, type Target } from './targets.ts';

/** Two of each: processes of one build differ by some percent, because V8 compiles each in its own order. */
const EACH = 2;
const CONNECTIONS = 16;
/** Seconds of a round for each one that a closed-loop run takes. */
const LONGER = 20;

function git(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.trim()}`);
  return stdout.trim();
}

/** The sources of a commit in a folder of their own, with the packages of this checkout; that of the last one asked for is kept. */
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

/** What the ones cost of what the others do, each pair of one round by itself. */
export const pairRatios = (ones: readonly number[], others: readonly number[]): number[] =>
  ones.flatMap((one) => others.map((other) => one / other));

/** Prints what a small chat costs here and at another commit; its exit code. */
export async function compareBuilds(machine: Machine, options: BenchOptions, ref: string): Promise<number> {
  if (!has('wrk')) throw new Error('this needs wrk (Debian: wrk): a load that can be stopped for a turn');
  const there = checkout(ref);
  const direct = await startDirect(machine);
  const nginx = options.nginx ? await startNginx(machine, direct) : null;
  const targets: Target[] = nginx === null ? [] : [nginx];
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
  console.log(`CPU of a small chat, c=${CONNECTIONS}, here / ${ref} (median, least, most): ${figures}`);
  return 0;
}
