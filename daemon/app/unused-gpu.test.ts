import { expect, it } from 'vitest';
import type { DeviceRecord, HardwareView } from '../contract/hardware.ts';
import { UNUSED_BY_DESIGN } from '../hardware/unused-reason.ts';
import { unusedGpuMessage } from './unused-gpu.ts';

const device = (over: Partial<DeviceRecord>) =>
  ({ kind: 'gpu', name: 'Some GPU', access: 'ok', unused_reason: null, ...over }) as DeviceRecord;
const note = (...devices: DeviceRecord[]) => unusedGpuMessage({ devices } as unknown as HardwareView);

it('returns null without a GPU and before the first probe', () => {
  expect(unusedGpuMessage(null)).toBeNull();
  expect(note(device({ kind: 'cpu' }), device({ kind: 'npu', unused_reason: 'x' }))).toBeNull();
});

it('returns null for a GPU that is excluded by design', () => {
  for (const unused_reason of UNUSED_BY_DESIGN) expect(note(device({ unused_reason }))).toBeNull();
});

it('returns the reason and the fix, and prefers a usable GPU', () => {
  const broken = device({
    name: 'Old',
    access: 'no_driver',
    unused_reason: 'No driver is loaded: install it.',
  });
  expect(note(broken)).toBe('Old is not used. No driver is loaded: install it.');
  expect(note(broken, device({ name: 'New' }))).toContain('New was found, but');
});
