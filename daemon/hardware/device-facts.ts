/** Supported accelerator vendors. */
export type Vendor = 'nvidia' | 'amd' | 'intel' | 'rockchip';
export type Access = 'ok' | 'no_driver' | 'no_permission' | 'unknown';

/** What is known of one accelerator. Null means unknown, never zero and never unsupported. */
export interface DeviceInfo {
  /** PCI address with a four-digit domain in lower case, or the platform name of a device without PCI. */
  readonly id: string;
  readonly kind: 'gpu' | 'npu';
  readonly vendor: Vendor;
  readonly vendorId: number | null;
  readonly deviceId: number | null;
  driver: string | null;
  name: string | null;
  /** Device nodes below /dev that a user of this device opens. */
  nodes: string[];
  /** True when it uses the host's memory. */
  integrated: boolean | null;
  /** True for display graphics that are too small for models. */
  small: boolean;
  /** Its own memory in bytes (the carve-out of integrated AMD graphics). */
  memoryTotal: number | null;
  memoryUsed: number | null;
  /** Free bytes from the driver, or total - used - reserved. */
  memoryFree: number | null;
  /** Host memory that the driver lets it map, in bytes. */
  gttTotal: number | null;
  gttUsed: number | null;
  busyPercent: number | null;
  /** Counter of busy microseconds, for devices that report no percentage. */
  busyCounterUs: number | null;
  powerW: number | null;
  temperatureC: number | null;
  /** Error of a vendor tool on this device, one line. */
  toolProblem: string | null;
  /** What prevents the engines' runtime from working on it, for users. Null when nothing is known. */
  runtimeProblem: string | null;
  /** True once a vendor tool has reported it. */
  toolAnswered: boolean;
  /** The probe that found it first. */
  foundBy: string;
  /** The probe that provided each fact. */
  sources: Partial<Record<keyof DeviceInfo, string>>;
}

export type DevicePatch = Partial<Omit<DeviceInfo, 'id' | 'kind' | 'vendor' | 'foundBy' | 'sources'>>;

/** The live values. */
const LIVE = [
  'memoryUsed',
  'memoryFree',
  'gttUsed',
  'busyPercent',
  'busyCounterUs',
  'powerW',
  'temperatureC',
] as const satisfies readonly (keyof DeviceInfo)[];

export function newDevice(
  identity: Pick<DeviceInfo, 'id' | 'kind' | 'vendor' | 'vendorId' | 'deviceId'>,
): DeviceInfo {
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

/** Applies the result of the probe `by` to a device. Null values in the result change nothing. */
export function patchDevice(device: DeviceInfo, patch: DevicePatch | undefined, by: string): void {
  if (patch === undefined) return;
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) continue;
    Object.assign(device, { [key]: value });
    device.sources[key as keyof DeviceInfo] = by;
  }
}

/** Clears the live values before they are refreshed. */
export function clearLiveValues(device: DeviceInfo): void {
  for (const key of LIVE) {
    device[key] = null;
    delete device.sources[key];
  }
}
