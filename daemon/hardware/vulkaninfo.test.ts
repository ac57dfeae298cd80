import { expect, test } from 'vitest';
import { captured } from './testing/fake-machine.ts';
import { parseVulkanSummary, readVulkan } from './vulkaninfo.ts';

test('drops software renderers', () => {
  expect(parseVulkanSummary(captured('no-gpu', 'vulkaninfo'))).toEqual([]);
});

test('parses identity, type and name', () => {
  expect(parseVulkanSummary(captured('amd-strix-halo-npu', 'vulkaninfo'))).toEqual([
    { vendorId: 0x1002, deviceId: 0x1586, integrated: true, name: 'AMD Radeon 8060S' },
  ]);
});

test('returns null for a missing or failing tool', async () => {
  const base = { code: null, stdout: '', stderr: '', timedOut: false, missing: true };
  expect(await readVulkan(async () => base)).toEqual({ devices: null, problem: null });
  const failed = { ...base, missing: false, code: 1, stderr: 'Cannot create Vulkan instance.\nmore' };
  expect(await readVulkan(async () => failed)).toEqual({
    devices: null,
    problem: 'Cannot create Vulkan instance.',
  });
});
