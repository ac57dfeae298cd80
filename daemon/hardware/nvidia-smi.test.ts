import { expect, test } from 'vitest';
import { isUnified, parseApps, parseGpus, readNvidia } from './nvidia-smi.ts';
import { captured } from './testing/fake-machine.ts';
import type { Tool } from './tools.ts';

const MIB = 1_048_576;
const query = (name: Parameters<typeof captured>[0]) => captured(name, 'nvidia-smi', '--query-gpu=index');
const answer = (code: number, stdout: string) => ({
  code,
  stdout,
  stderr: '',
  timedOut: false,
  missing: false,
});

test('parses a row and normalises the bus id', () => {
  const [gpu] = parseGpus(query('nvidia-single'));
  expect(gpu).toMatchObject({ id: '0000:84:00.0', name: 'NVIDIA GeForce RTX 4090' });
  expect(gpu?.patch).toMatchObject({
    memoryTotal: 24564 * MIB,
    memoryUsed: 2 * MIB,
    memoryFree: 24214 * MIB,
  });
});

test('a load of zero is zero, and an unavailable field is null', () => {
  const [, second] = parseGpus(query('nvidia-dual'));
  expect(second?.patch).toMatchObject({ busyPercent: 0, powerW: null, temperatureC: 33 });
});

test('accepts a name with a comma', () => {
  const [gpu] = parseGpus(query('nvidia-single').replace('GeForce RTX', 'GeForce, RTX'));
  expect(gpu).toMatchObject({ id: '0000:84:00.0', name: 'NVIDIA GeForce, RTX 4090' });
});

test('returns no GPU for a message instead of rows', () => {
  expect(parseGpus(query('nvidia-driver-broken'))).toEqual([]);
  expect(parseGpus('')).toEqual([]);
});

test('unified requires no own memory and a known model; a missing field alone is not enough', () => {
  const [gb10] = parseGpus(query('nvidia-unified-gb10'));
  const [card] = parseGpus(query('nvidia-single').replace('24564', '[N/A]'));
  expect(gb10 && isUnified(gb10, 0x2e12)).toBe(true);
  expect(card && isUnified(card, 0x2684)).toBe(false);
});

test('ignores processes without a number', () => {
  const apps = parseApps(captured('nvidia-dual', 'nvidia-smi', '--query-compute-apps'));
  expect([...apps.values()]).toEqual([18310 * MIB]);
});

test('reports why a tool failed, and nothing for a missing one', async () => {
  const broken: Tool = async () => answer(9, query('nvidia-driver-broken'));
  const missing: Tool = async () => ({ ...answer(0, ''), code: null, missing: true });
  expect((await readNvidia(broken)).problem).toMatch(/^NVIDIA-SMI has failed/);
  expect(await readNvidia(missing)).toEqual({ gpus: [], problem: null });
});
