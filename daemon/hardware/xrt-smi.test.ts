import { existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { newDevice } from './device-facts.ts';
import { captured } from './testing/fake-machine.ts';
import type { Tool } from './tools.ts';
import { evaluateNpus, parseXrt, readXrtSmi } from './xrt-smi.ts';

const npu = newDevice({ id: '0000:c4:00.1', kind: 'npu', vendor: 'amd', vendorId: 0x1022, deviceId: 0x17f0 });
const output = captured('amd-strix-halo-npu', 'xrt-smi', 'examine', '-f');
const withoutNpu = captured('amd-strix-halo-carveout-no-npu', 'xrt-smi', 'examine', '-f');

test('parses the devices, and other text gives null', () => {
  expect(parseXrt(output)).toEqual([{ id: '0000:c4:00.1', ready: true }]);
  expect(parseXrt(withoutNpu)).toEqual([]);
  expect(parseXrt('System Configuration')).toBeNull();
});

test('a listed NPU is fine, a missing or unready one has a reason', () => {
  const judged = (devices: Parameters<typeof evaluateNpus>[0]) => evaluateNpus(devices, [npu]).get(npu.id);
  expect(judged([{ id: npu.id, ready: true }])).toEqual({ toolAnswered: true });
  expect(judged([{ id: null, ready: true }])).toEqual({ toolAnswered: true });
  expect(judged([])?.runtimeProblem).toContain('xrt-plugin-amdxdna');
  expect(judged([{ id: npu.id, ready: false }])?.runtimeProblem).toContain('not ready');
  expect(judged([{ id: '0000:01:00.0', ready: true }])?.runtimeProblem).toContain('does not see it');
});

test('reads the output file and removes it', async () => {
  let file = '';
  const tool: Tool = async (_, args) => {
    file = args[4] as string;
    writeFileSync(file, withoutNpu);
    return { code: 0, stdout: '', stderr: '', timedOut: false, missing: false };
  };
  expect((await readXrtSmi(tool, [npu])).get(npu.id)?.runtimeProblem).toContain('XRT does not see it');
  expect(existsSync(dirname(file))).toBe(false);
});

test('not installed: nothing is known', async () => {
  const absent: Tool = async () => ({ code: null, stdout: '', stderr: '', timedOut: false, missing: true });
  expect(await readXrtSmi(absent, [npu])).toEqual(new Map());
});
