import type { DeviceRecord, HardwareView } from '../../../daemon/contract/hardware.ts';

/** Samples that are kept: an hour of one every five seconds. */
const MOST = 720;
/** A longer pause between two samples is a gap: nobody looked, or the gateway did not answer. */
export const GAP_MS = 25_000;

export type Measure = 'memory' | 'load' | 'power' | 'temperature';

/** How a measure stands in the record of a device; null where the device does not tell it. */
export const READ: Record<Measure, (device: DeviceRecord) => number | null> = {
  memory: (device) => device.memory_used_bytes,
  load: (device) => device.busy_percent,
  power: (device) => device.power_w,
  temperature: (device) => device.temperature_c,
};

interface Sample {
  /** Unix milliseconds. */
  at: number;
  devices: ReadonlyMap<string, DeviceRecord>;
}

/** Times in Unix seconds and the values there; null is a gap and is never bridged. */
export interface Series {
  times: number[];
  values: (number | null)[];
}

/** What the hardware was like while this page was open; bounded. */
export class HardwareHistory {
  #samples: Sample[] = [];

  add(at: number, view: HardwareView): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && at <= last.at) return;
    this.#samples.push({ at, devices: new Map(view.devices.map((device) => [device.id, device])) });
    if (this.#samples.length > MOST) this.#samples.splice(0, this.#samples.length - MOST);
  }

  /** The course of one measure; a device that was away or told nothing leaves a gap. */
  series(device: string, measure: Measure): Series {
    const series: Series = { times: [], values: [] };
    const put = (at: number, value: number | null): void => {
      series.times.push(at / 1000);
      series.values.push(value);
    };
    let before: number | null = null;
    for (const { at, devices } of this.#samples) {
      if (before !== null && at - before > GAP_MS) put(before + 1, null);
      const found = devices.get(device);
      put(at, found === undefined ? null : READ[measure](found));
      before = at;
    }
    return series;
  }
}

/** Lowest, highest and last value, and how many gaps lie between; null when nothing is known. */
export function summaryOf(
  series: Series,
): { low: number; high: number; last: number | null; gaps: number } | null {
  const known = series.values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const gaps = series.values.filter((value, at) => value === null && series.values[at - 1] != null).length;
  return { low: Math.min(...known), high: Math.max(...known), last: series.values.at(-1) ?? null, gaps };
}
