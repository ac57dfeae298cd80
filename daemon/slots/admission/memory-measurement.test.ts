import { describe, expect, it, test } from 'vitest';
import type { EngineRun } from '../lifecycle/controller-deps.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { currentOf } from '../testing/memory.ts';
import { Measurements } from './measured-memory.ts';
import { Footprints, footprint } from './memory-measurement.ts';

const CARD = '0000:01:00.0';
const PID = 4711;
const running = () => ({ pid: PID }) as EngineRun['running'];

function bench(onCard: number | null) {
  const clock = new ManualClock();
  const measurements = new Measurements();
  const calls: [number, string][] = [];
  const footprints = new Footprints(clock, measurements, {
    familyMemoryOf: () => ({ resident: 300, anonymous: 200 }),
    cardMemoryOf: async (...question) => {
      calls.push(question);
      return onCard;
    },
  });
  return { clock, measurements, calls, footprints };
}

test('an engine on a card is measured there, once a minute, by its process', async () => {
  const { clock, measurements, calls, footprints } = bench(4_000);
  const current = currentOf('vulkan', { pool: CARD, running: running() });
  footprints.served(current);
  footprints.served(current);
  expect(calls).toEqual([]);
  await clock.advance(1_000);
  expect(calls).toEqual([[PID, CARD]]);
  expect(measurements.bytes(current.launch, CARD, current.weightBytes)).toBe(4_000);
  await clock.advance(60_000);
  footprints.served(current);
  await clock.advance(1_000);
  expect(calls).toHaveLength(2);
});

test.each([null, 0])('a card that reports %s leaves the estimate unchanged', async (bytes) => {
  const { clock, measurements, footprints } = bench(bytes);
  const current = currentOf('vulkan', { pool: CARD, running: running() });
  footprints.served(current);
  await clock.advance(1_000);
  expect(measurements.bytes(current.launch, CARD, current.weightBytes)).toBeNull();
});

test('an engine on the CPU is measured in host memory, an engine on a GPU that shares it is not', async () => {
  const { clock, measurements, calls, footprints } = bench(4_000);
  const onCpu = currentOf('cpu', { weightBytes: 50, estimatedBytes: 250, running: running() });
  const shared = currentOf('vulkan', { pool: 'host', weightBytes: 60, running: running() });
  for (const current of [onCpu, shared]) footprints.served(current);
  await clock.advance(1_000);
  expect(measurements.bytes(onCpu.launch, 'host', 50)).toBe(300);
  expect(measurements.bytes(shared.launch, 'host', 60)).toBeNull();
  expect(calls).toEqual([]);
});

test('an engine that fell back to the CPU is recorded for host memory, not for the planned card', async () => {
  const { clock, measurements, footprints } = bench(4_000);
  const onCpuInstead = currentOf('cpu', {
    pool: CARD,
    weightBytes: 50,
    estimatedBytes: 250,
    running: running(),
  });
  footprints.served(onCpuInstead);
  await clock.advance(1_000);
  expect([
    measurements.bytes(onCpuInstead.launch, 'host', 50),
    measurements.bytes(onCpuInstead.launch, CARD, 50),
  ]).toEqual([300, null]);
});

test('an engine with only some layers on the card is not measured', async () => {
  const { clock, calls, footprints } = bench(4_000);
  const current = currentOf('vulkan', { pool: CARD, running: running() });
  const loaded = { ...current.loaded, layers: { placed: 20, total: 33 } } as EngineRun['loaded'];
  footprints.served({ ...current, loaded });
  await clock.advance(1_000);
  expect(calls).toEqual([]);
  footprints.served({
    ...current,
    loaded: { ...loaded, layers: { placed: 33, total: 33 } } as EngineRun['loaded'],
  });
  await clock.advance(1_000);
  expect(calls).toHaveLength(1);
});

describe('footprint', () => {
  const model = { weightBytes: 100, estimatedBytes: 140 };
  it.each([
    ['weights that are mapped from their file and partly resident', 50, 30, 130],
    ['weights that are mapped, plus libraries', 137, 30, 137],
    ['weights that were read into anonymous memory', 145, 140, 140],
    ['weights that were repacked while their file is resident too', 220, 120, 140],
    ['more anonymous memory than estimated', 190, 190, 190],
  ])('%s', (_, resident, anonymous, bytes) => expect(footprint({ resident, anonymous }, model)).toBe(bytes));
});
