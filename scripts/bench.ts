/**
 * The gateway between a load generator and a mock model server, all on loopback, beside no gateway at all (`direct`)
 * and nginx; the embedded engine beside llama-server; and callers who leave real engines. Every target runs in every round; only the ratios are worth
 * quoting.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { startEngines } from './bench/engines.ts';
import { verdicts } from './bench/goals.ts';
import { startForLeaving } from './bench/leaving.ts';
import { Machine } from './bench/machine.ts';
import { type BenchOptions, parseOptions, USAGE } from './bench/options.ts';
import { type Results, runScenario } from './bench/rounds.ts';
import { chosen, isOfEngines, isOfLeaving, type Stage, warmUp } from './bench/scenarios.ts';
import { table } from './bench/table.ts';
import { startDirect, startNginx, startOurs, type Target } from './bench/targets.ts';

/** Runs `names` on their targets, which are warm. */
async function runAll(
  stage: Stage,
  targets: readonly Target[],
  names: readonly string[],
  rounds: number,
): Promise<Results> {
  const results: Results = {};
  for (const name of names) {
    results[name] = await runScenario(stage, name, targets, rounds);
    console.log(table(name, results[name]));
  }
  return results;
}

/** The path of a request, between a load generator and a mock. */
async function runPath(machine: Machine, options: BenchOptions, names: readonly string[]): Promise<Results> {
  if (names.length === 0) return {};
  const direct = await startDirect(machine);
  const nginx = options.nginx ? await startNginx(machine, direct) : null;
  const ours = await startOurs(machine, direct);
  const targets = nginx ? [direct, nginx, ours] : [direct, ours];
  const stage = { machine, direct, secs: options.secs };
  for (const target of targets) await warmUp(stage, target);
  return runAll(stage, targets, names, options.rounds);
}

/** The embedded engine beside llama-server, on a model with real work for each token. */
async function runEngines(
  machine: Machine,
  { secs, rounds }: BenchOptions,
  names: readonly string[],
): Promise<Results> {
  const targets = names.length === 0 ? [] : await startEngines(machine);
  const [direct] = targets;
  return direct ? runAll({ machine, direct, secs }, targets, names, rounds) : {};
}

/** Callers who leave in every phase, a thousand in each round. */
async function runLeaving(
  machine: Machine,
  { secs, rounds }: BenchOptions,
  names: readonly string[],
): Promise<Results> {
  if (names.length === 0) return {};
  const direct = await startForLeaving(machine);
  return runAll({ machine, direct, secs }, [direct], names, rounds);
}

async function run(machine: Machine, options: BenchOptions): Promise<Results> {
  const names = chosen(options.only);
  const path = names.filter((name) => !isOfEngines(name) && !isOfLeaving(name));
  return {
    ...(await runPath(machine, options, path)),
    ...(await runEngines(machine, options, names.filter(isOfEngines))),
    ...(await runLeaving(machine, options, names.filter(isOfLeaving))),
  };
}

function close(results: Results, file: string): void {
  console.log('\n## goals');
  for (const { what, value, spread, verdict } of verdicts(results)) {
    const range = spread === null ? '' : `  [${spread.min.toFixed(2)}-${spread.max.toFixed(2)}]`;
    console.log(`  ${what.padEnd(30)} ${value.toFixed(2).padStart(8)}  ${verdict}${range}`);
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `${JSON.stringify({ at: new Date().toISOString(), node: process.version, results }, null, 1)}\n`,
  );
  console.log(`raw figures: ${file}`);
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options.list) return console.log(chosen([]).join('\n'));
  const machine = new Machine();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  process.once('exit', () => machine.close());
  close(await run(machine, options), options.json);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const wrongUse = error instanceof TypeError || error instanceof RangeError;
  console.error(wrongUse ? `${error.message}\n\n${USAGE}` : error);
  process.exit(wrongUse ? 2 : 1);
}
