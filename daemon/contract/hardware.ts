import { z } from 'zod';

export const DeviceView = z.object({
  /** `cpu`, or the PCI address of an accelerator. */
  id: z.string(),
  kind: z.enum(['cpu', 'gpu', 'npu']),
  vendor: z.string().nullable(),
  name: z.string(),
  driver: z.string().nullable(),
  /** `ok`, `no_driver`, `no_permission`, `unknown`. */
  access: z.enum(['ok', 'no_driver', 'no_permission', 'unknown']),
  memory_total_bytes: z.number().nullable(),
  memory_used_bytes: z.number().nullable(),
  /** Why a device that was found is not used, with the fix; null when it is used or cannot be. */
  unused_reason: z.string().nullable(),
});
export const HardwareResponse = z.object({
  /** Unix milliseconds of the probe. */
  probed_at: z.number(),
  host: z.object({
    cpu: z.string(),
    cores_physical: z.number().int(),
    cores_logical: z.number().int(),
    memory_total_bytes: z.number(),
    memory_available_bytes: z.number(),
  }),
  devices: z.array(DeviceView),
  /** What could not be read, and why. */
  problems: z.array(z.object({ probe: z.string(), reason: z.string() })),
});
export type HardwareView = z.infer<typeof HardwareResponse>;
export type DeviceRecord = z.infer<typeof DeviceView>;
