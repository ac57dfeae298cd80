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
  /** Id of the memory pool that it draws from; null when its memory is unknown. */
  pool: z.string().nullable(),
  busy_percent: z.number().nullable(),
  power_w: z.number().nullable(),
  temperature_c: z.number().nullable(),
  /** Why a device is not used, with the fix; null when it is used. */
  unused_reason: z.string().nullable(),
});
/** Memory that one or several devices share, so that it is not counted twice. */
export const MemoryPoolView = z.object({
  /** `host` (which is the unified pool of a machine that has one), or the id of the device that owns the memory. */
  id: z.string(),
  kind: z.enum(['host', 'unified', 'device']),
  total_bytes: z.number(),
  available_bytes: z.number().nullable(),
  /** The part that only the GPU can use (a carve-out); 0 without one. */
  carveout_bytes: z.number(),
  /** What sets the size. */
  limited_by: z.enum(['host', 'cgroup', 'gtt', 'device']),
  devices: z.array(z.string()),
});
/** An installed container engine. */
export const ContainerRuntimeView = z.object({
  kind: z.enum(['docker', 'podman']),
  /** Path of its API socket; null when it has none. */
  socket: z.string().nullable(),
  /** `ok`, `no_permission`, `not_running`, `no_answer`. */
  access: z.enum(['ok', 'no_permission', 'not_running', 'no_answer']),
  version: z.string().nullable(),
  /** True when it runs as an ordinary user of this host; null when unknown. */
  rootless: z.boolean().nullable(),
  /** Why it is not used, with the fix; null when it can be used. */
  hint: z.string().nullable(),
});
/** The probes that found the facts of one subject. */
export const EvidenceView = z.object({
  /** `host`, the id of a device, or `pool ID`. */
  of: z.string(),
  /** What saw it first. */
  found_by: z.string(),
  /** Fact → the probe that reported it. A later, better probe wins. */
  facts: z.record(z.string(), z.string()),
  /** Facts that no probe reported, and why. */
  unread: z.array(z.object({ fact: z.string(), reason: z.string() })),
});
/** A mounted file system with storage of its own. */
export const DiskView = z.object({
  mount: z.string(),
  type: z.string().nullable(),
  total_bytes: z.number(),
  available_bytes: z.number().nullable(),
});
/** A network interface with an address. */
export const NetworkView = z.object({
  name: z.string(),
  /** `wired`, `wireless`, `virtual`; null when unknown. */
  kind: z.string().nullable(),
  ipv4: z.string().nullable(),
  ipv6: z.string().nullable(),
  /** Megabits per second. */
  speed_mbit: z.number().nullable(),
  /** True for the interface of the default route. */
  default: z.boolean(),
});
export const HardwareResponse = z.object({
  /** Unix milliseconds of the probe. */
  probed_at: z.number(),
  host: z.object({
    cpu: z.string(),
    /** Name and release of the operating system. */
    os: z.string().nullable(),
    cores_physical: z.number().int(),
    cores_logical: z.number().int(),
    memory_total_bytes: z.number(),
    memory_available_bytes: z.number(),
    swap_total_bytes: z.number().nullable(),
    swap_used_bytes: z.number().nullable(),
    /** Null until the first reading. */
    disks: z.array(DiskView).nullable(),
    /** Null until the first reading. */
    networks: z.array(NetworkView).nullable(),
  }),
  devices: z.array(DeviceView),
  pools: z.array(MemoryPoolView),
  /** Installed container engines. */
  containers: z.array(ContainerRuntimeView),
  evidence: z.array(EvidenceView),
  /** Probes that failed, and why. */
  problems: z.array(z.object({ probe: z.string(), reason: z.string() })),
});
export type EvidenceRecord = z.infer<typeof EvidenceView>;
export type HardwareView = z.infer<typeof HardwareResponse>;
export type MemoryPoolRecord = z.infer<typeof MemoryPoolView>;
export type DiskRecord = z.infer<typeof DiskView>;
export type NetworkRecord = z.infer<typeof NetworkView>;
export type DeviceRecord = z.infer<typeof DeviceView>;
export type ContainerRuntimeRecord = z.infer<typeof ContainerRuntimeView>;
