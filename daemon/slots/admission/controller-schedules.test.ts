import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { scale, seed } from '../../test/harness/scale.ts';
import type { Lease } from '../lifecycle/lease.ts';
import { AdmissionBench } from '../testing/admission-bench.ts';
import { settle } from '../testing/manual-clock.ts';
import type { ScriptedEngine } from '../testing/scripted-runner.ts';
import { sliceMs } from './time-slice.ts';

const DISCONNECTED = new Error('disconnected');
const NAMES = ['a', 'b', 'c', 'd'] as const;
const STEPS = [
  'request',
  'request',
  'request',
  'leave',
  'release',
  'release',
  'load',
  'unload',
  'restart',
  'crash',
  'loaded',
  'loaded',
  'time',
  'time',
] as const;
type Step = (typeof STEPS)[number];

const unhandled: unknown[] = [];
const stray = (reason: unknown) => unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', stray));
afterAll(() => void process.off('unhandledRejection', stray));

/** One random schedule over several slots that accounts for every caller. */
class Schedule {
  readonly bench: AdmissionBench;
  readonly leases: { lease: Lease; engine: ScriptedEngine | undefined }[] = [];
  readonly disconnects: AbortController[] = [];
  requests = 0;
  answered = 0;

  constructor(bench: AdmissionBench, instant: boolean) {
    this.bench = bench;
    bench.runner.loadsAtOnce = instant;
  }

  watch(outcome: Promise<Lease | undefined>): void {
    this.requests += 1;
    outcome
      .then(
        (lease) => {
          if (lease !== undefined) this.leases.push({ lease, engine: this.bench.alive(lease.slot)[0] });
        },
        (reason: unknown) => {
          if (reason !== DISCONNECTED && !(reason instanceof GatewayError)) this.bench.errors.push(reason);
        },
      )
      .finally(() => {
        this.answered += 1;
      });
  }

  async take(step: Step, name: string, pick: number): Promise<void> {
    const { bench, leases, disconnects } = this;
    const controller = bench.controller(name);
    const act: Record<Step, () => unknown> = {
      request: () => {
        const disconnect = new AbortController();
        disconnects.push(disconnect);
        this.watch(bench.request(name, { signal: disconnect.signal, stream: pick % 2 === 0 }));
      },
      leave: () => disconnects[pick % (disconnects.length || 1)]?.abort(DISCONNECTED),
      release: () => leases.splice(pick % (leases.length || 1), 1)[0]?.lease.release(),
      load: () => this.watch(controller.load(pick % 3 === 0 ? 'auto' : 'request').then(() => undefined)),
      unload: () => this.watch(controller.unload().then(() => undefined)),
      restart: () => this.watch(controller.restart().then(() => undefined)),
      crash: () => bench.alive(name)[0]?.end('crash'),
      loaded: () => bench.alive()[pick % (bench.alive().length || 1)]?.load(),
      time: () => bench.clock.advance([300, 3_000, 20_000, 400_000][pick % 4] as number),
    };
    await act[step]();
    if (pick % 3 === 0) await settle();
  }

  check(): void {
    const { bench } = this;
    for (const [name, controller] of bench.controllers) {
      const { state, active, parallel, queued } = controller.record();
      const unattended = queued > 0 && (state === 'offline' || state === 'error');
      if (unattended) expect(bench.admission.waiting).toContain(name);
      expect(bench.alive(name).length).toBeLessThanOrEqual(1);
      expect(active).toBeLessThanOrEqual(parallel);
      if (state === 'stopping') expect(active).toBe(0);
    }
    expect(this.leases.filter(({ engine }) => engine?.wasStopped)).toEqual([]);
    expect(bench.granted).toBeLessThanOrEqual(bench.limit);
  }

  /**
   * Stops interfering and waits until every caller is settled by the waiting limits, not by the end of the gateway.
   */
  async settleAll(): Promise<void> {
    const { bench, leases } = this;
    for (let round = 0; round < 60 && this.answered < this.requests; round++) {
      for (const { lease } of leases.splice(0)) lease.release();
      for (const engine of bench.alive()) engine.load();
      await bench.clock.advance(20_000);
      this.check();
    }
    expect(this.answered).toBe(this.requests);
    for (const { lease } of leases.splice(0)) lease.release();
  }

  /** Closes all slots; none may remain in a transient state. */
  async finish(): Promise<void> {
    const { bench } = this;
    const closed = [...bench.controllers.values()].map((controller) => controller.close(1_000));
    await bench.clock.advance(2_000);
    await Promise.all(closed);
    await settle();
  }
}

const size = fc.integer({ min: 1, max: 4 });
const slots = fc.tuple(size, size, size, size).map((sizes) =>
  NAMES.map((name, index) => ({
    name,
    size: sizes[index] as number,
    text: name === 'd' ? 'pinned = true' : `parallel = 2\nidle_unload = ${index * 30}`,
  })),
);

it('no schedule over several slots leaves an unsettled caller, two engines of a slot, or a reservation without a load', async () => {
  const step = fc.tuple(fc.constantFrom(...STEPS), fc.constantFrom(...NAMES), fc.nat(1_000));
  await fc.assert(
    fc.asyncProperty(
      slots,
      fc.integer({ min: 2, max: 8 }),
      fc.record({ instant: fc.boolean(), settleAll: fc.boolean() }),
      fc.array(step, { maxLength: 60 }),
      async (slots, memoryGib, { instant, settleAll }, steps) => {
        const bench = new AdmissionBench(slots, memoryGib);
        const schedule = new Schedule(bench, instant);
        for (const [name, slot, pick] of steps) {
          await schedule.take(name, slot, pick);
          schedule.check();
        }
        if (settleAll) await schedule.settleAll();
        await schedule.finish();
        expect([schedule.answered, bench.alive().length, bench.errors]).toEqual([schedule.requests, 0, []]);
        expect([bench.admission.waiting, bench.granted, bench.evicted.includes('d')]).toEqual([[], 0, false]);
        for (const controller of bench.controllers.values())
          expect(['offline', 'error']).toContain(controller.record().state);
        expect(unhandled).toEqual([]);
      },
    ),
    { numRuns: scale(10_000), seed: seed('loads-schedules') },
  );
}, 86_400_000);

/** Maximum milliseconds of one response and of a load in the test below. */
const MAX_ANSWER_MS = 5_000;
const LOAD_MS = 2_000;

it('callers of slots that do not fit together are all served within a bounded time and with few swaps', async () => {
  const call = fc.record({
    at: fc.integer({ min: 0, max: 60_000 }),
    slot: fc.constantFrom('a', 'b', 'c'),
    takes: fc.integer({ min: 1, max: MAX_ANSWER_MS }),
  });
  const three = NAMES.slice(0, 3).map((name) => ({ name, size: 2, text: 'parallel = 2' }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 2, max: 5 }),
      async (calls, memoryGib) => {
        const bench = new AdmissionBench(three, memoryGib);
        bench.runner.loadAfter = (load) => void bench.clock.after(LOAD_MS, load);
        const waits: number[] = [];
        const failed: unknown[] = [];
        for (const { at, slot, takes } of calls) {
          bench.clock.after(at, () => {
            const since = bench.clock.now();
            bench.request(slot).then(
              (lease) => {
                waits.push(bench.clock.now() - since);
                bench.clock.after(takes, () => lease.release());
              },
              (reason: unknown) => failed.push(reason),
            );
          });
        }
        await bench.clock.advance(600_000);
        expect([waits.length, failed, bench.admission.waiting]).toEqual([calls.length, [], []]);
        // Two other slots use their time slice, drain and load before a slot is served again, and one slice may not
        // be enough for all of its callers.
        const round = 3 * (sliceMs(LOAD_MS) + MAX_ANSWER_MS + LOAD_MS + 1_000);
        const perTimeSlice = Math.max(1, Math.floor(sliceMs(LOAD_MS) / MAX_ANSWER_MS)) * 2;
        expect(Math.max(...waits)).toBeLessThanOrEqual(round * Math.ceil(calls.length / perTimeSlice));
        expect(bench.runner.starts).toBeLessThanOrEqual(Math.min(calls.length, 60));
      },
    ),
    { numRuns: scale(2_000), seed: seed('loads-fairness') },
  );
}, 86_400_000);
