/**
 * Measures the gateway between a load generator and a mock model server on loopback, and compares it with no gateway
 * (`direct`), nginx and llama-swap. Every target runs in every round. Quote only ratios.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { compareBuilds } from './bench/compare-builds.ts';
import { gate } from './bench/gate.ts';
import { startGatewayUnderTest } from './bench/gateway-under-test.ts';
import { verdicts } from './bench/goals.ts';
import { has, Machine } from './bench/machine.ts';
import { type BenchOptions, parseOptions, USAGE } from './bench/options.ts';
import { profileTable } from './bench/profile.ts';
import { type Results, runScenario } from './bench/rounds.ts';
import { chosen, SCENARIOS, type ScenarioRow, type Stage, warmUp } from './bench/scenarios.ts';
import { goalsTable, table } from './bench/table.ts';
import { startDirect, startLlamaSwap, startNginx, type Target, target } from './bench/targets.ts';

/** Runs scenarios one after the other and prints the figures of each. */
class Bench {
  readonly #stage: Stage;
  readonly #options: BenchOptions;
  /** The targets that scenarios share, by name; started and warmed at their first use. */
  readonly #shared = new Map<string, Promise<Target | null>>();

  constructor(stage: Stage, options: BenchOptions) {
    this.#stage = stage;
    this.#options = options;
  }

  async run(name: string): Promise<Results[string]> {
    const { targets, run, times = 1 } = SCENARIOS[name] as ScenarioRow;
    const chosenTargets = await this.#targets(targets);
    const rounds = this.#options.rounds * times;
    const figures = await runScenario(this.#stage, name, run, chosenTargets, rounds);
    if (targets === 'fresh') await this.#stage.machine.stop(chosenTargets.at(-1)?.pid ?? 0);
    console.log(table(name, figures));
    return figures;
  }

  /** Ends the gateway that scenarios share, so that its profile is written. */
  async endGateway(): Promise<void> {
    await this.#stage.machine.stop((await this.#shared.get('ours'))?.pid ?? 0);
  }

  async #targets(kind: ScenarioRow['targets']): Promise<Target[]> {
    const { machine, direct } = this.#stage;
    if (kind === 'ours') return [target('ours', 0, 0)];
    const start = () => startGatewayUnderTest(machine, direct, this.#options.profile ?? undefined);
    const nginx = await this.#once('nginx', () => startNginx(machine, direct));
    const peers = [direct, nginx];
    if (kind === 'all') {
      peers.push(await this.#once('llama-swap', () => startLlamaSwap(machine, direct)));
      peers.push(await this.#once('ours', start));
    } else peers.push(await start());
    return peers.filter((each) => each !== null);
  }

  #once(name: string, start: () => Promise<Target | null>): Promise<Target | null> {
    const warm = async () => {
      const started = await start();
      if (started !== null) await warmUp(this.#stage, started);
      return started;
    };
    const running = this.#shared.get(name) ?? warm();
    this.#shared.set(name, running);
    return running;
  }
}

/** Runs the selected scenarios and compares them with the goals. Returns 1 when a goal is missed. */
async function runScenarios(machine: Machine, options: BenchOptions): Promise<number> {
  if (!has('wrk')) throw new Error('The bench needs wrk (Debian: wrk).');
  const { profile } = options;
  if (profile !== null) {
    mkdirSync(dirname(profile), { recursive: true });
    rmSync(profile, { force: true });
  }
  const bench = new Bench({ machine, direct: await startDirect(machine), secs: options.secs }, options);
  const results: Results = {};
  for (const name of chosen(options.only)) results[name] = await bench.run(name);
  const judged = verdicts(results);
  console.log(goalsTable(judged));
  if (profile !== null) {
    await bench.endGateway();
    console.log(existsSync(profile) ? profileTable(profile) : 'no profile: the shared gateway did not run');
  }
  return judged.some(({ verdict }) => verdict === 'MISSED') ? 1 : 0;
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
