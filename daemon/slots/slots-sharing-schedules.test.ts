/** Random schedules of slots that may share engines. */
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fuzzing } from '../test/harness/scale.ts';
import type { Lease } from './lifecycle/lease.ts';
import { RedispatchError } from './refusals.ts';
import { AdminBench } from './testing/admin-bench.ts';
import { settle } from './testing/manual-clock.ts';

const NAMES = ['a', 'b', 'c'];
const FILES = ['model = "small"\n', 'model = "small"\nparallel = 1\n', 'model = "small"\nenabled = false\n'];
type Step = readonly [
  kind: 'request' | 'load' | 'unload' | 'restart' | 'release' | 'crash' | 'write' | 'remove' | 'wait',
  name: string,
  file: string,
];

it('no caller is lost, and slots that share an engine agree on its state', async () => {
  const step = fc.tuple(
    fc.constantFrom<Step[0]>(
      'request',
      'request',
      'load',
      'unload',
      'restart',
      'release',
      'crash',
      'write',
      'remove',
      'wait',
    ),
    fc.constantFrom(...NAMES),
    fc.constantFrom(...FILES),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const bench = new AdminBench();
      try {
        await run(bench, steps);
      } finally {
        await bench.remove();
      }
    }),
    fuzzing('shared engines', 10_000),
  );
}, 240_000);

async function run(bench: AdminBench, steps: readonly Step[]): Promise<void> {
  bench.slotFile('agent', 'autoload = false\nmodel = "huge"\n');
  for (const name of NAMES) bench.slotFile(name, FILES[0] as string);
  const slots = bench.openAdmin();
  const leases: Lease[] = [];
  let open = 0;
  const settled = async (act: Promise<unknown>): Promise<void> => {
    open += 1;
    await act.catch(() => {});
    open -= 1;
  };
  /** Requests as the dispatcher does: again when another engine serves the slot now. */
  const request = async (name: string): Promise<void> => {
    for (let attempt = 0; attempt < 20; attempt++) {
      try {
        const signal = AbortSignal.any([]);
        const lease = await slots.ensureReady(name, { signal, stream: false });
        expect(lease.slot).toBe(name);
        leases.push(lease);
        return;
      } catch (cause) {
        if (!(cause instanceof RedispatchError)) return;
        if (slots.get(name) === undefined) return;
      }
    }
    throw new Error(`slot ${name} never served or refused a request`);
  };
  const failed: unknown[] = [];
  for (const [kind, name, file] of steps) {
    if (kind === 'request') void settled(request(name).catch((cause) => failed.push(cause)));
    if (kind === 'load' || kind === 'unload' || kind === 'restart')
      void settled(Promise.resolve().then(() => slots[kind](name)));
    if (kind === 'release') leases.shift()?.release();
    if (kind === 'crash') bench.runner.engines.find(({ hasEnded }) => !hasEnded)?.end('crashed');
    if (kind === 'write') {
      bench.slotFile(name, file);
      slots.reload();
    }
    if (kind === 'remove') void settled(Promise.resolve().then(() => slots.remove(name)));
    if (kind === 'wait') await bench.clock.advance(6_000);
    else await settle();
    check(bench, slots);
  }
  // Every caller is answered once requests end and time passes.
  // Files are written outside of the manual clock.
  for (const deadline = Date.now() + 30_000; open > 0 && Date.now() < deadline; ) {
    for (const lease of leases.splice(0)) lease.release();
    await bench.clock.advance(30_000);
    await pause(2);
  }
  expect(open).toBe(0);
  expect(failed).toEqual([]);
  for (const lease of leases.splice(0)) lease.release();
}

/** Slots that share an engine agree on its state, and name one that runs. */
function check(bench: AdminBench, slots: ReturnType<AdminBench['openAdmin']>): void {
  for (const record of slots.list()) {
    const { shared_engine: shared } = record;
    if (shared == null || shared.slot === null) continue;
    const owner = slots.get(shared.slot);
    expect(owner?.state).toBe(record.state);
    expect(owner?.failure).toEqual(record.failure);
    expect(record.memory === null).toBe(shared.slot !== record.name);
    expect(
      bench.runner.engines.some(({ hasEnded, launch }) => !hasEnded && launch.slot === shared.slot),
    ).toBe(true);
  }
}
