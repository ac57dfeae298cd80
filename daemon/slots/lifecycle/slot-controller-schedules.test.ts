import fc from 'fast-check';
import { expect, it } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { scale, seed } from '../../test/harness/scale.ts';
import { noMemoryError } from '../refusals.ts';
import { ControllerBench } from '../testing/controller-bench.ts';
import { settle } from '../testing/manual-clock.ts';
import { sumOf } from '../testing/memory.ts';
import type { Lease } from './lease.ts';

const DISCONNECTED = new Error('disconnected');
const STEPS = [
  'request',
  'leave',
  'release',
  'load',
  'unload',
  'restart',
  'crash',
  'loaded',
  'idle',
  'memory',
] as const;
type Step = (typeof STEPS)[number];

/** One random schedule against one controller that accounts for every caller. */
class Schedule {
  readonly bench = new ControllerBench('parallel = 2', 'utility');
  readonly leases: Lease[] = [];
  readonly disconnects: AbortController[] = [];
  requests = 0;
  answered = 0;
  readonly errors: unknown[] = [];

  constructor() {
    this.bench.runner.loadsAtOnce = false;
    this.bench.queueMax = 4;
  }

  watch(outcome: Promise<Lease | undefined>): void {
    this.requests += 1;
    outcome
      .then(
        (lease) => lease !== undefined && this.leases.push(lease),
        (reason: unknown) => {
          if (reason !== DISCONNECTED && !(reason instanceof GatewayError)) this.errors.push(reason);
        },
      )
      .finally(() => {
        this.answered += 1;
      });
  }

  async take(step: Step, pick: number): Promise<void> {
    const { bench } = this;
    const act: Record<Step, () => unknown> = {
      request: () => {
        const disconnect = new AbortController();
        this.disconnects.push(disconnect);
        this.watch(bench.request({ signal: disconnect.signal, stream: pick % 2 === 0 }));
      },
      leave: () => this.disconnects[pick % (this.disconnects.length || 1)]?.abort(DISCONNECTED),
      release: () => this.leases.splice(pick % (this.leases.length || 1), 1)[0]?.release(),
      load: () => this.watch(bench.controller.load().then(() => undefined)),
      unload: () => this.watch(bench.controller.unload().then(() => undefined)),
      restart: () => this.watch(bench.controller.restart().then(() => undefined)),
      crash: () => bench.runner.engines.at(-1)?.end('crash'),
      loaded: () => bench.runner.engines.at(-1)?.load(),
      idle: () => bench.clock.advance([1_000, 20_000, 400_000, 1_000_000][pick % 4] as number),
      memory: () => {
        bench.refusal =
          pick % 2 === 0 ? noMemoryError('utility', sumOf({ needed: 1, free: 0, reserved: 0 })) : null;
      },
    };
    await act[step]();
    if (pick % 3 === 0) await settle();
  }

  /** Returns the engines that run although they should not: each slot has one controller and one engine. */
  get running(): number {
    return this.bench.runner.engines.filter((engine) => !engine.hasEnded).length;
  }
}

it('no schedule leaves an unsettled caller, two engines, or an illegal transition', async () => {
  const step = fc.tuple(fc.constantFrom(...STEPS), fc.nat(1_000));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const schedule = new Schedule();
      for (const [name, pick] of steps) {
        await schedule.take(name, pick);
        expect(schedule.running).toBeLessThanOrEqual(1);
        expect(schedule.bench.controller.record().active).toBeLessThanOrEqual(2);
      }
      const closed = schedule.bench.controller.close(1_000);
      await schedule.bench.clock.advance(2_000);
      await closed;
      await settle();
      expect([schedule.answered, schedule.running, schedule.errors]).toEqual([schedule.requests, 0, []]);
      expect(['offline', 'error']).toContain(schedule.bench.state);
    }),
    { numRuns: scale(10_000), seed: seed('owner-schedules') },
  );
}, 86_400_000);
