/**
 * The gateway between a load generator and a mock model server, all on loopback, beside no gateway at all (`direct`)
 * and nginx. Every target runs in every round; only the ratios are worth quoting.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { verdicts } from './bench/goals.ts';
import { Machine } from './bench/machine.ts';
import { type BenchOptions, parseOptions, USAGE } from './bench/options.ts';
import { type Results, runScenario } from './bench/rounds.ts';
import { chosen, warmUp } from './bench/scenarios.ts';
import { table } from './bench/table.ts';
import { startDirect, startNginx, startOurs } from './bench/targets.ts';

async function run(machine: Machine, options: BenchOptions): Promise<Results> {
  const direct = await startDirect(machine);
  const nginx = options.nginx ? await startNginx(machine, direct) : null;
  const ours = await startOurs(machine, direct);
  const targets = nginx ? [direct, nginx, ours] : [direct, ours];
  const stage = { machine, direct, secs: options.secs };
  for (const target of targets) await warmUp(stage, target);
  const results: Results = {};
  for (const name of chosen(options.only)) {
    results[name] = await runScenario(stage, name, targets, options.rounds);
    console.log(table(name, results[name]));
  }
  return results;
}

function close(results: Results, file: string): void {
  console.log('\n## goals');
  for (const { what, value, verdict } of verdicts(results)) {
    console.log(`  ${what.padEnd(30)} ${value.toFixed(2).padStart(8)}  ${verdict}`);
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
