/**
 * Measures the gateway between a load generator and a mock model server on loopback, and compares it with no gateway
 * (`direct`), nginx and another gateway. Also measures the cost of side loads, the embedded engine against llama-server,
 * and client disconnects with real engines. Every target runs in every round. Quote only ratios.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { compareBuilds } from './bench/compare-builds.ts';
import { gate } from './bench/gate.ts';
import { Machine } from './bench/machine.ts';
import { type BenchOptions, parseOptions, USAGE } from './bench/options.ts';
import { Participants } from './bench/participants.ts';
import { profileTable } from './bench/profile.ts';
import { writeResults } from './bench/results.ts';
import { type Results, runScenario } from './bench/rounds.ts';
import { chosen, SCENARIOS, type ScenarioRow, type Stage, warmUp } from './bench/scenarios.ts';
import { goalsTable, table } from './bench/table.ts';
import { verdicts } from './bench/verdicts.ts';

/** Runs scenarios one after the other and prints the figures of each. */
class Bench {
  readonly #options: BenchOptions;
  readonly #participants: Participants;
  readonly #stage: Omit<Stage, 'direct'>;

  constructor(machine: Machine, options: BenchOptions) {
    this.#options = options;
    this.#stage = { machine, secs: options.secs };
    this.#participants = new Participants(machine, options, (direct, target) =>
      warmUp({ ...this.#stage, direct }, target),
    );
  }

  /** Runs one scenario on all its targets. Returns null when no target is available. */
  async one(name: string): Promise<Results[string] | null> {
    const { group, times = 1 } = SCENARIOS[name] as ScenarioRow;
    const { targets, end } = await this.#participants.group(group);
    const [direct] = targets;
    if (direct === undefined) return null;
    const figures = await runScenario(
      { ...this.#stage, direct },
      name,
      targets,
      this.#options.rounds * times,
    );
    await end();
    console.log(table(name, figures));
    return figures;
  }

  async all(names: readonly string[]): Promise<Results> {
    const results: Results = {};
    for (const name of names) {
      const figures = await this.one(name);
      if (figures === null) console.log(`\n## ${name}: SKIPPED, see above`);
      else results[name] = figures;
    }
    return results;
  }

  /** Ends the gateway that most scenarios share, so that its profile is written. */
  endOurs(): Promise<void> {
    return this.#participants.stopGatewayUnderTest();
  }
}

/** Runs the selected scenarios, compares them with the goals and writes the results. */
async function runScenarios(machine: Machine, options: BenchOptions): Promise<number> {
  const bench = new Bench(machine, options);
  if (options.profile !== null) {
    mkdirSync(dirname(options.profile), { recursive: true });
    rmSync(options.profile, { force: true });
  }
  const results = await bench.all(chosen(options.only));
  const judged = verdicts(results);
  console.log(goalsTable(judged));
  writeResults(options.json, results, judged);
  console.log(`raw figures: ${options.json}`);
  if (options.profile !== null) {
    await bench.endOurs();
    console.log(
      existsSync(options.profile)
        ? profileTable(options.profile)
        : 'no profile: the gateway under test did not run',
    );
  }
  return 0;
}

async function main(options: BenchOptions): Promise<number> {
  if (options.help || options.list) {
    console.log(options.help ? USAGE : chosen([]).join('\n'));
    return 0;
  }
  const machine = new Machine();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  process.once('exit', () => machine.close());
  if (options.compareWith !== null) return compareBuilds(machine, options, options.compareWith);
  return options.gate ? gate(machine, options) : runScenarios(machine, options);
}

/** Parses the command line. Prints the error and the usage, and exits with 2, when it is invalid. */
function optionsOrExit(): BenchOptions {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return process.exit(2);
  }
}

try {
  process.exit(await main(optionsOrExit()));
} catch (error) {
  console.error(error);
  process.exit(1);
}
