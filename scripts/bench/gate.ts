/**
 * The performance gate: CPU of the gateway as a ratio to a bare proxy on the same Node (reference.ts), against the ratios in
 * docs/internals/performance.md. Both sides take turns under load, so that other work on the machine and the state of the
 * processor affect both alike. A busy machine is therefore no reason to skip it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../daemon/slots/runners/ports.ts';
import { runAlternating } from './alternating-rounds.ts';
import { type ClosedLoad, startWrk } from './closed-loop.ts';
import { type Load, MEASURES, type Measure, WARM_CHATS, WARM_STREAMS } from './gate-measures.ts';
import { gateRow, parseGateTable } from './gate-table.ts';
import {
  brokenGate,
  DECIDING_RUNS,
  decidingRatio,
  type GateReport,
  gateReport,
  isWithin,
  joinedReport,
  limitOf,
  type MeasuredRatios,
  skippedGate,
  slowdownReport,
} from './gate-verdict.ts';
import { ROOT } from './gateway-files.ts';
import { CLIENT_KEY, startGatewayUnderTest } from './gateway-under-test.ts';
import { answers, has, type Machine } from './machine.ts';
import type { BenchOptions } from './options.ts';
import { SLOWDOWN } from './slowdown.ts';
import { startDirect, type Target, target } from './targets.ts';

const PAGE = join(ROOT, 'docs', 'internals', 'performance.md');
/** Further runs for measures whose median is over the limit. */
const EXTRA_RUNS = 2;
/** Most runs of a gateway that was slowed down on purpose. */
const SLOWED_RUNS = 3;
/** Seconds of turns for each target and measure. */
const SECS_EACH = 3;
/** Seconds of load before the turns of a measure, to warm code that only this path runs. */
const WARM_SECS = 1;
/** Small chats after which V8 has compiled most of the path, and the time limit for the warm-up. */
const WARM_REQUESTS = 40_000;
const MAX_WARM_MS = 40_000;
/** Each run starts new processes, which differ by some percent, unless their warm-up takes longer than this. */
const MAX_FRESH_MS = 15_000;

const loadOf = ({ body, connections }: Load, secs: number): ClosedLoad => ({
  body: body(),
  connections,
  secs,
});

/** Returns why this machine cannot run the gate, or null. The load of the machine does not matter. */
function whyNot(machine: Machine): string | null {
  if (!has('wrk')) return 'wrk is not installed (Debian: wrk). Install it and run the gate again.';
  if (!machine.pinned) return 'the gate needs two CPUs and taskset (Debian: util-linux).';
  return null;
}

async function startReference(machine: Machine, upstream: Target): Promise<Target> {
  const port = await freePort();
  const program = join(import.meta.dirname, 'reference.ts');
  const command = [process.execPath, program, String(port), upstream.url.origin, CLIENT_KEY];
  const pid = machine.start('gateway', command);
  await answers(`http://127.0.0.1:${port}/`);
  return target('reference', port, pid, { Authorization: `Bearer ${CLIENT_KEY}` });
}

type Start = (machine: Machine, upstream: Target) => Promise<Target | null>;

/** Starts a target with its own model server, which pauses with it between turns, so that paced tokens do not pile up. */
async function withUpstream(machine: Machine, start: Start): Promise<Target | null> {
  const upstream = await startDirect(machine);
  const started = await start(machine, upstream);
  return started && { ...started, upstreamPid: upstream.pid };
}

/** Loads all targets at once without measuring. Returns the lowest number of requests that a target answered. */
async function warm(machine: Machine, targets: readonly Target[], load: ClosedLoad): Promise<number> {
  const runs = await Promise.all(targets.map((each) => startWrk(machine, each, load).ended));
  return Math.min(...runs.map(({ requests }) => requests));
}

interface Pair {
  readonly targets: readonly Target[];
  readonly warmMs: number;
}

/** Starts both sides and warms them with a number of requests: a fixed time would allow too few on a busy machine. */
async function startPair(machine: Machine): Promise<Pair> {
  const ours = await withUpstream(machine, startGatewayUnderTest);
  const reference = await withUpstream(machine, startReference);
  const targets = [ours, reference].filter((each) => each !== null);
  const start = Date.now();
  let requests = 0;
  while (requests < WARM_REQUESTS && Date.now() < start + MAX_WARM_MS) {
    requests += await warm(machine, targets, loadOf(WARM_CHATS, 3));
    await warm(machine, targets, loadOf(WARM_STREAMS, 1));
  }
  const warmMs = Date.now() - start;
  console.log(`  warm after ${requests} small chats in ${(warmMs / 1000).toFixed(0)} s`);
  return { targets, warmMs };
}

async function endPair(machine: Machine, { targets }: Pair): Promise<void> {
  for (const { pid, upstreamPid = 0 } of targets) {
    for (const each of [pid, upstreamPid]) await machine.stop(each);
  }
}

interface Sample {
  readonly ratio: number;
  readonly failed: number;
}

const us = (value: number): string => `${value.toFixed(1)} us`;

/** Runs one measure on warm targets and prints the cost of each. */
async function sample(machine: Machine, targets: readonly Target[], measure: Measure): Promise<Sample> {
  await warm(machine, targets, loadOf(measure, WARM_SECS));
  const [ours, reference] = await runAlternating(
    machine,
    targets,
    loadOf(measure, SECS_EACH * targets.length),
  );
  if (ours === undefined || reference === undefined) throw new Error('the gate compares two targets');
  const ratio = ours.mainUsPerRequest / reference.mainUsPerRequest;
  const costs = `ours ${us(ours.mainUsPerRequest)}, reference ${us(reference.mainUsPerRequest)}`;
  console.log(`  ${measure.name.padEnd(20)} ${ratio.toFixed(2)}   ${costs}`);
  return { ratio, failed: ours.failed + reference.failed };
}

class Gate {
  readonly #machine: Machine;
  readonly #samples = new Map<string, Sample[]>();
  #pair: Pair | null = null;
  #runs = 0;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Adds one run of these measures. */
  async run(measures: readonly Measure[]): Promise<void> {
    console.log(`run ${++this.#runs}: ratio of CPU to the reference`);
    const { targets } = await this.#freshPair();
    for (const measure of measures) {
      const samples = this.#samples.get(measure.name) ?? [];
      this.#samples.set(measure.name, [...samples, await sample(this.#machine, targets, measure)]);
    }
  }

  /** Starts new processes, or returns the last ones when a warm-up takes long: cold code differs more than processes do. */
  async #freshPair(): Promise<Pair> {
    if (this.#pair !== null && this.#pair.warmMs > MAX_FRESH_MS) return this.#pair;
    if (this.#pair !== null) await endPair(this.#machine, this.#pair);
    this.#pair = await startPair(this.#machine);
    return this.#pair;
  }

  /**
   * Slows the last gateway down and returns its highest ratio for small chats, for which its code is warmest. Stops at the first
   * one of at least `enough`. One run alone differs from the others by 11 % on a busy machine.
   */
  async slowed(enough: number): Promise<number> {
    const measure = MEASURES.at(-1);
    const { targets } = this.#pair ?? (await this.#freshPair());
    const [ours] = targets;
    if (measure === undefined || ours === undefined) throw new Error('the gate has no measure');
    console.log(`slowed down by ${SLOWDOWN * 100} %`);
    process.kill(ours.pid, 'SIGWINCH');
    let highest = 0;
    for (let run = 0; run < SLOWED_RUNS && !(highest >= enough); run++)
      highest = Math.max(highest, (await sample(this.#machine, targets, measure)).ratio);
    return highest;
  }

  get measured(): MeasuredRatios[] {
    return MEASURES.map(({ name, scenario }) => {
      const samples = this.#samples.get(name) ?? [];
      const failedRequests = samples.reduce((sum, { failed }) => sum + failed, 0);
      return { name, scenario, failedRequests, ratios: samples.map(({ ratio }) => ratio) };
    });
  }
}

async function regularRuns(machine: Machine): Promise<Gate> {
  const gate = new Gate(machine);
  for (let run = 0; run < DECIDING_RUNS; run++) await gate.run(MEASURES);
  return gate;
}

async function judge(machine: Machine): Promise<GateReport> {
  const names = MEASURES.map(({ name }) => name);
  const recorded = parseGateTable(readFileSync(PAGE, 'utf8'), names);
  const gate = await regularRuns(machine);
  const over = gate.measured.filter((each) => !isWithin(each, recorded.get(each.name) ?? 0));
  const again = MEASURES.filter(({ name }) => over.some((each) => each.name === name));
  for (let run = 0; again.length > 0 && run < EXTRA_RUNS; run++) await gate.run(again);
  for (const measured of gate.measured) {
    const of = recorded.get(measured.name) ?? 0;
    const [ratio, limit] = [decidingRatio(measured).toFixed(2), limitOf(of).toFixed(2)];
    console.log(`${measured.name.padEnd(22)} median ${ratio}, recorded ${of.toFixed(2)}, limit ${limit}`);
  }
  const report = gateReport(gate.measured, recorded);
  const [smallChat] = gate.measured.slice(-1);
  const usual = smallChat === undefined ? Number.NaN : decidingRatio(smallChat);
  return joinedReport(report, slowdownReport(usual, await gate.slowed(limitOf(usual))));
}

/** Prints rows for the table of recorded ratios. */
async function record(machine: Machine): Promise<number> {
  const { measured } = await regularRuns(machine);
  await machine.stopAll();
  const revision = ['rev-parse', '--short', 'HEAD'];
  const commit = execFileSync('git', revision, { cwd: ROOT, encoding: 'utf8' }).trim();
  const today = new Date().toISOString().slice(0, 10);
  console.log('\nRows for the table in docs/internals/performance.md:\n');
  for (const each of measured) console.log(gateRow(each.name, decidingRatio(each), today, commit));
  return 0;
}

/** Runs the gate and returns its exit code; see `--gate`, `--record` and `--report` in options.ts. */
export async function gate(machine: Machine, options: BenchOptions): Promise<number> {
  const reason = whyNot(machine);
  if (reason !== null) console.log(`SKIPPED the performance gate: ${reason}`);
  if (options.record) return reason === null ? record(machine) : 1;
  const report = reason === null ? await judge(machine).catch(brokenGate) : skippedGate();
  await machine.stopAll();
  if (options.report !== null) writeFileSync(options.report, `${JSON.stringify(report, null, 1)}\n`);
  for (const { name, text } of report.failures) console.log(`\nFAILED ${name}\n${text}`);
  console.log(`${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped`);
  return report.failed === 0 ? 0 : 1;
}
