import { expect, test } from 'vitest';
import { parseMetric, parseStatic, readAmdSmi } from './amd-smi.ts';
import { captured } from './testing/fake-machine.ts';
import type { Tool } from './tools.ts';

const MIB = 1_048_576;
const ok = { code: 0, stdout: '', stderr: '', timedOut: false, missing: false };

test('newer versions wrap the list in gpu_data, and MB are MiB', () => {
  const [gpu] = parseStatic(captured('amd-dgpu', 'amd-smi', 'static'));
  expect(gpu).toMatchObject({
    index: 0,
    id: '0000:0b:00.0',
    patch: { name: 'AMD Radeon RX 7900 XT', memoryTotal: 20464 * MIB },
  });
  expect(parseMetric(captured('amd-dgpu', 'amd-smi', 'metric')).get(0)).toEqual({
    memoryTotal: 20464 * MIB,
    memoryUsed: 26 * MIB,
    memoryFree: 20438 * MIB,
    gttTotal: 32108 * MIB,
    gttUsed: 17 * MIB,
    busyPercent: 0,
    powerW: 13,
    temperatureC: 37,
  });
});

test('older versions print a bare list with a name from the PCI list', () => {
  const [gpu] = parseStatic(captured('amd-dgpu-old-amd-smi', 'amd-smi', 'static'));
  expect(gpu).toMatchObject({ id: '0000:0b:00.0', patch: { name: null, memoryTotal: 8176 * MIB } });
});

test('returns null for unavailable values, and nothing for invalid output', () => {
  const text = '[{"gpu": 0, "usage": "N/A", "power": {"socket_power": "N/A"}}, {"gpu": "x"}, null]';
  expect([...parseMetric(text)]).toEqual([
    [0, expect.objectContaining({ busyPercent: null, powerW: null, memoryTotal: null })],
  ]);
  expect(parseStatic('ERROR: driver not loaded')).toEqual([]);
  expect(parseStatic('{"gpu_data": [{"gpu": 0, "bus": {"bdf": "N/A"}}]}')).toEqual([]);
});

test('repeats the query without filter options for an older version', async () => {
  const calls: string[] = [];
  const tool: Tool = async (_, args) => {
    calls.push(args.join(' '));
    const kind = args[0] as 'static';
    if (args.length > 2) return { ...ok, code: 2, stderr: 'unrecognized arguments: --asic' };
    return { ...ok, stdout: captured('amd-dgpu-old-amd-smi', 'amd-smi', kind) };
  };
  const { patches, problem } = await readAmdSmi(tool);
  expect(problem).toBeNull();
  expect(patches.get('0000:0b:00.0')).toMatchObject({ memoryTotal: 8176 * MIB, powerW: 4 });
  expect(calls.filter((args) => args.split(' ').length === 2)).toEqual(['static --json', 'metric --json']);
});

test('runs a hanging tool once; its failure has a reason, its absence none', async () => {
  let calls = 0;
  const hangs: Tool = async () => {
    calls += 1;
    return { ...ok, code: null, timedOut: true };
  };
  expect((await readAmdSmi(hangs)).problem).toBe('no answer within 3 s');
  expect(calls).toBe(1);
  const absent: Tool = async () => ({ ...ok, code: null, missing: true });
  expect(await readAmdSmi(absent)).toEqual({ patches: new Map(), problem: null });
});
