import { type DeviceFacts, patchDevice } from './facts.ts';

interface Sample {
  counterUs: number;
  atMs: number;
}

/** Two readings closer than this say nothing about load. */
const MIN_INTERVAL_MS = 1000;

/** Percent of the time between two readings of a busy counter; null when it can't be told. */
export function busyBetween(before: Sample | undefined, after: Sample): number | null {
  if (before === undefined) return null;
  const passed = after.atMs - before.atMs;
  const busy = after.counterUs - before.counterUs;
  if (passed < MIN_INTERVAL_MS || busy < 0) return null;
  return Math.min(100, Math.round(busy / 10 / passed));
}

/** Turns the busy counters of devices that tell no percentage into one, from reading to reading. */
export function busyCounters(): (devices: readonly DeviceFacts[], nowMs: number) => void {
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
