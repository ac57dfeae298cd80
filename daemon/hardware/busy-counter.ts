import { type DeviceInfo, patchDevice } from './device-facts.ts';

interface Sample {
  counterUs: number;
  atMs: number;
}

/** Minimum interval of two readings; a shorter one gives no meaningful load. */
const MIN_INTERVAL_MS = 1000;

/** Returns the load in percent between two readings of a busy counter. Null when it cannot be computed. */
export function busyBetween(before: Sample | undefined, after: Sample): number | null {
  if (before === undefined) return null;
  const passed = after.atMs - before.atMs;
  const busy = after.counterUs - before.counterUs;
  if (passed < MIN_INTERVAL_MS || busy < 0) return null;
  return Math.min(100, Math.round(busy / 10 / passed));
}

/** Computes the load of devices that report only busy counters, from one reading to the next. */
export function busyCounters(): (devices: readonly DeviceInfo[], nowMs: number) => void {
  const samples = new Map<string, Sample>();
  return (devices, nowMs) => {
    for (const device of devices) {
      if (device.busyCounterUs === null) continue;
      const after = { counterUs: device.busyCounterUs, atMs: nowMs };
      const busyPercent = busyBetween(samples.get(device.id), after);
      patchDevice(device, { busyPercent }, device.sources.busyCounterUs ?? device.foundBy);
      samples.set(device.id, after);
    }
  };
}
