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
  const served = new Set<object>();
  const memory = { resident: 300, anonymous: 200 };
  const footprints = new Footprints(clock, measurements, {
    measureMemory: async () => ({ ...memory }),
    cardMemoryOf: async (...question) => {
      calls.push(question);
      return question[1] === 'host' ? 0 : onCard;
    },
    isServing: (current) => served.has(current),
  });
  const inHost = (current: EngineRun) => measurements.bytes(current.launch, 'host', current.weightBytes);
  return { clock, measurements, calls, footprints, memory, served, inHost };
}

test('an engine on a card is measured there, by its process', async () => {
  const { clock, measurements, calls, footprints } = bench(4_000);
  const current = currentOf('vulkan', { pool: CARD, running: running() });
  footprints.served(current);
  footprints.served(current);
  expect(calls).toEqual([]);
  await clock.advance(1_000);
  expect(calls).toEqual([[PID, CARD]]);
  expect(measurements.bytes(current.launch, CARD, current.weightBytes)).toBe(4_000);
});

test('while nothing grows the interval doubles up to a minute, and starts again when it does', async () => {
  const { clock, calls, footprints } = bench(4_000);
  const current = currentOf('vulkan', { pool: CARD, running: running() });
  const after = async (ms: number) => {
    await clock.advance(ms);
    footprints.served(current);
    await clock.advance(100);
    return calls.length;
  };
  expect(await after(0)).toBe(1);
  expect(await after(4_000)).toBe(1);
  expect(await after(1_000)).toBe(2);
  expect(await after(9_000)).toBe(2);
  expect(await after(1_000)).toBe(3);
  for (const ms of [20_000, 40_000, 60_000]) await after(ms);
  expect(calls).toHaveLength(6);
  expect(await after(59_000)).toBe(6);
  expect(await after(1_000)).toBe(7);
});

test('an engine is measured during a long request, and the maximum counts', async () => {
  const { clock, footprints, memory, served, inHost } = bench(null);
  const current = currentOf('cpu', { weightBytes: 0, running: running() });
  served.add(current);
  footprints.serving(current);
  footprints.serving(current);
  await clock.advance(5_100);
  expect(inHost(current)).toBe(300);
  memory.resident = 900;
  await clock.advance(5_100);
  expect(inHost(current)).toBe(900);
  memory.resident = 400;
  await clock.advance(60_000);
  expect(inHost(current)).toBe(900);
  served.delete(current);
  await clock.advance(120_000);
  memory.resident = 5_000;
  await clock.advance(600_000);
  expect(inHost(current)).toBe(900);
});

test.each([null, 0])('a card that reports %s leaves the estimate unchanged', async (bytes) => {
  const { clock, measurements, footprints } = bench(bytes);
  const current = currentOf('vulkan', { pool: CARD, running: running() });
  footprints.served(current);
  await clock.advance(1_000);
  expect(measurements.bytes(current.launch, CARD, current.weightBytes)).toBeNull();
});

test('an engine on the CPU is measured in host memory, mapped weights on a GPU that shares it are not', async () => {
  const { clock, calls, footprints, inHost } = bench(4_000);
  const onCpu = currentOf('cpu', { weightBytes: 50, estimatedBytes: 250, running: running() });
  const shared = currentOf('vulkan', { pool: 'host', weightBytes: 60, running: running() });
  for (const current of [onCpu, shared]) footprints.served(current);
  await clock.advance(1_000);
  expect(inHost(onCpu)).toBe(300);
  expect(inHost(shared)).toBeNull();
  expect(calls).toEqual([]);
});

test('what a program takes of the host through a GPU is added, and unknown is not recorded', async () => {
  const run = currentOf('auto', { pool: 'host', weightBytes: 0, running: running() });
  for (const [through, expected] of [
    [70, 370],
    [0, 300],
    [null, null],
  ] as const) {
    const { clock, measurements } = bench(null);
    const footprints = new Footprints(clock, measurements, {
      measureMemory: async () => ({ resident: 300, anonymous: 200 }),
      cardMemoryOf: async () => through,
      isServing: () => false,
    });
    footprints.served(run);
    await clock.advance(1_000);
    expect(measurements.bytes(run.launch, 'host', 0)).toBe(expected);
  }
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
  const model = { mapped: 100, estimatedBytes: 140 };
  it.each([
    ['weights that are mapped from their file and partly resident', 50, 30, 130],
    ['weights that are mapped, plus libraries', 137, 30, 137],
    ['weights that were read into anonymous memory', 145, 140, 140],
    ['weights that were repacked while their file is resident too', 220, 120, 140],
    ['more anonymous memory than estimated', 190, 190, 190],
  ])('%s', (_, resident, anonymous, bytes) => expect(footprint({ resident, anonymous }, model)).toBe(bytes));
});
