import type { DeviceRecord, HardwareView } from '../../../daemon/contract/hardware.ts';

/** Maximum samples: one hour at one every five seconds. */
const MAX_SAMPLES = 720;
/** A longer pause between two samples counts as a gap. */
export const GAP_MS = 25_000;

export type Measure = 'memory' | 'load' | 'power' | 'temperature';

/** Reads a measure from a device record; null when the device does not report it. */
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

/** Times in Unix seconds with their values; null is a gap and is never interpolated. */
export interface Series {
  times: number[];
  values: (number | null)[];
}

/** Bounded history of the hardware since the page was opened. */
export class HardwareHistory {
  #samples: Sample[] = [];

  add(at: number, view: HardwareView): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && at <= last.at) return;
    this.#samples.push({ at, devices: new Map(view.devices.map((device) => [device.id, device])) });
    if (this.#samples.length > MAX_SAMPLES) this.#samples.splice(0, this.#samples.length - MAX_SAMPLES);
  }

  /** One measure over time. A missing device or value is a gap. */
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

/** Lowest, highest and last value and the number of gaps; null without values. */
export function summaryOf(
  series: Series,
): { low: number; high: number; last: number | null; gaps: number } | null {
  const known = series.values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const gaps = series.values.filter((value, at) => value === null && series.values[at - 1] != null).length;
  return { low: Math.min(...known), high: Math.max(...known), last: series.values.at(-1) ?? null, gaps };
}
