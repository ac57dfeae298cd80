/**
 * Measures the gateway between a load generator and a mock model server, all on loopback, next to no gateway
 * at all (`direct`), nginx and another gateway; with side load; the embedded engine next to llama-server; and
 * clients that disconnect from real engines. Every target runs in every round. Only the ratios are
 * meaningful.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { against } from './bench/against.ts';
import { tooBusy } from './bench/busy.ts';
import { Machine } from './bench/machine.ts';
import { type BenchOptions, parseOptions, USAGE } from './bench/options.ts';
import { Casts } from './bench/participants.ts';
import { profileTable } from './bench/profile.ts';
import { writeJson, writeResults } from './bench/results.ts';
import { type Results, runScenario } from './bench/rounds.ts';
import { chosen, SCENARIOS, type ScenarioRow, type Stage, warmUp } from './bench/scenarios.ts';
import {
  isBeyond,
  nothingMeasured,
  SHORT_GOALS,
  SHORT_SCENARIOS,
  type ShortReport,
  SLACK,
  shortReport,
  withoutFailures,
} from './bench/short.ts';
import { goalsTable, table } from './bench/table.ts';
import { hasCompiler } from './bench/targets.ts';
import { verdicts } from './bench/verdicts.ts';

/** Runs scenarios one after the other and shows each. */
class Bench {
  readonly #options: BenchOptions;
  readonly #casts: Casts;
  readonly #stage: Omit<Stage, 'direct'>;

  constructor(machine: Machine, options: BenchOptions) {
    this.#options = options;
    this.#stage = { machine, secs: options.secs };
    this.#casts = new Casts(machine, options, (direct, target) => warmUp({ ...this.#stage, direct }, target));
  }

  /** Runs one scenario on all participants; null when there are none. */
  async one(name: string): Promise<Results[string] | null> {
    const { cast, times = 1 } = SCENARIOS[name] as ScenarioRow;
    const { targets, end } = await this.#casts.of(cast);
    const [direct] = targets;
    if (direct === undefined) return null;
    // Short runs are not compared with `direct`.
    const measured = this.#options.short ? targets.filter((each) => each !== direct) : targets;
    const rounds = this.#options.rounds * (this.#options.short ? 1 : times);
    const figures = await runScenario({ ...this.#stage, direct }, name, measured, rounds);
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
    return this.#casts.endOurs();
  }
}

/** Runs everything that was requested and checks every goal. */
async function whole(machine: Machine, options: BenchOptions): Promise<number> {
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
        : 'no gateway of ours ran that has a profile',
    );
  }
  return 0;
}

/**
 * Measures the stable figures. A figure beyond its bound is measured once more before it fails. Measures
 * nothing on a busy machine.
 */
async function short(machine: Machine, options: BenchOptions): Promise<number> {
  const busy = await tooBusy();
  if (busy !== null) return told(options, skippedFor(busy, nothingMeasured()));
  const comparable = hasCompiler();
  if (!comparable)
    console.log('SKIPPED, ratios to nginx: there is no C compiler, and mock.ts would be what is measured');
  const bench = new Bench(machine, { ...options, nginx: options.nginx && comparable });
  const names = chosen(options.only).filter((name) => SHORT_SCENARIOS.includes(name));
  const results = await bench.all(names);
  const first = verdicts(results, SHORT_GOALS, SLACK);
  for (const name of names.filter((each) => isBeyond(first, each))) {
    console.log(`\n${name} is beyond its bound; once more`);
    results[name] = (await bench.one(name)) ?? {};
  }
  const judged = verdicts(results, SHORT_GOALS, SLACK);
  console.log(goalsTable(judged));
  writeResults(options.json, results, judged);
  const report = shortReport(judged, first);
  if (report.failed === 0) return told(options, report);
  await bench.endOurs();
  const after = await tooBusy();
  return told(options, after === null ? report : skippedFor(after, withoutFailures(report)));
}

function skippedFor(busy: string, report: ShortReport): ShortReport {
  console.log(`SKIPPED, ${report.skipped} figures: ${busy}`);
  return report;
}

/** Reports the result of a short run and returns its exit code. */
function told(options: BenchOptions, report: ShortReport): number {
  if (options.report !== null) writeJson(options.report, report);
  for (const { name, why } of report.failures) console.log(`FAILED ${name}: ${why}`);
  console.log(
    `${report.passed} hold, ${report.failed} failed, ${report.skipped} skipped (bounds: ${SLACK} x the floors)`,
  );
  return report.failed === 0 ? 0 : 1;
}

async function main(options: BenchOptions): Promise<number> {
  if (options.help || options.list) {
    console.log(options.help ? USAGE : chosen([]).join('\n'));
    return 0;
  }
  const machine = new Machine();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  process.once('exit', () => machine.close());
  if (options.against !== null) return against(machine, options, options.against);
  return options.short ? short(machine, options) : whole(machine, options);
}

/** Parses the command line, or exits with one line that names the error. */
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
