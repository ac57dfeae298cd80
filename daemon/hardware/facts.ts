/** Makers whose accelerators are known here. */
export type Vendor = 'nvidia' | 'amd' | 'intel' | 'rockchip';
export type Access = 'ok' | 'no_driver' | 'no_permission' | 'unknown';

/** What is known of one accelerator. Null is "unknown", never zero, never "unsupported". */
export interface DeviceFacts {
  /** PCI address with a four-digit domain in lower case, or the platform name of a device on no PCI bus. */
  readonly id: string;
  readonly kind: 'gpu' | 'npu';
  readonly vendor: Vendor;
  readonly vendorId: number | null;
  readonly deviceId: number | null;
  driver: string | null;
  name: string | null;
  /** Device nodes below /dev that a user of this device opens. */
  nodes: string[];
  /** True when it lives on the memory of the host. */
  integrated: boolean | null;
  /** True for display graphics that are too small to run models on. */
  small: boolean;
  /** Memory of its own in bytes (on integrated AMD graphics the carve-out). */
  memoryTotal: number | null;
  memoryUsed: number | null;
  /** Free bytes as the driver says; total - used - reserved. */
  memoryFree: number | null;
  /** Host memory that the driver lets it map, in bytes. */
  gttTotal: number | null;
  gttUsed: number | null;
  busyPercent: number | null;
  /** Counter of busy microseconds, for devices that tell no percentage. */
  busyCounterUs: number | null;
  powerW: number | null;
  temperatureC: number | null;
  /** What a vendor tool said when it failed on this device, one line. */
  toolProblem: string | null;
  /** What stands in the way of the runtime that engines use on it, for humans; null when nothing is known to. */
  runtimeProblem: string | null;
  /** True once a vendor tool has talked to it. */
  toolAnswered: boolean;
  /** The probe that saw it first. */
  foundBy: string;
  /** The probe that told each fact. */
  sources: Partial<Record<keyof DeviceFacts, string>>;
}

export type DevicePatch = Partial<Omit<DeviceFacts, 'id' | 'kind' | 'vendor' | 'foundBy' | 'sources'>>;

/** What changes from moment to moment. */
const LIVE = [
  'memoryUsed',
  'memoryFree',
  'gttUsed',
  'busyPercent',
  'busyCounterUs',
  'powerW',
  'temperatureC',
] as const satisfies readonly (keyof DeviceFacts)[];

export function newDevice(
  identity: Pick<DeviceFacts, 'id' | 'kind' | 'vendor' | 'vendorId' | 'deviceId'>,
): DeviceFacts {
  return {
    ...identity,
    driver: null,
    name: null,
    nodes: [],
    integrated: null,
    small: false,
    memoryTotal: null,
    memoryUsed: null,
    memoryFree: null,
    gttTotal: null,
    gttUsed: null,
    busyPercent: null,
    busyCounterUs: null,
    powerW: null,
    temperatureC: null,
    toolProblem: null,
    runtimeProblem: null,
    toolAnswered: false,
    foundBy: 'pci',
    sources: {},
  };
}

/** Lays a reading of the probe `by` over a device: what the reading does not know leaves the device as it was. */
export function patchDevice(device: DeviceFacts, patch: DevicePatch | undefined, by: string): void {
  if (patch === undefined) return;
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) continue;
    Object.assign(device, { [key]: value });
    device.sources[key as keyof DeviceFacts] = by;
  }
}

/** Forgets what changes from moment to moment, before it is read anew. */
export function clearLiveValues(device: DeviceFacts): void {
  for (const key of LIVE) {
    device[key] = null;
    delete device.sources[key];
  }
}
