import type { DeviceRecord, HardwareView } from '../../contract/hardware.ts';
import type { MetricFactory } from './metric-factory.ts';

/** A device with a name that reveals neither its address nor its maker: `gpu0`, `gpu1`, `npu0`. */
export interface NamedDevice {
  readonly device: string;
  readonly record: DeviceRecord;
}

/**
 * Returns the accelerators in the order of the probe, numbered by kind. The host's memory is device `host`.
 */
export function namedDevices(devices: readonly DeviceRecord[]): NamedDevice[] {
  const counts = { gpu: 0, npu: 0 };
  return devices.flatMap((record) =>
    record.kind === 'cpu' ? [] : [{ device: `${record.kind}${counts[record.kind]++}`, record }],
  );
}

const LIVE: readonly [name: string, help: string, value: (record: DeviceRecord) => number | null][] = [
  [
    'svc_device_busy_ratio',
    'Utilisation of an accelerator, 0 to 1.',
    ({ busy_percent: busy }) => (busy === null ? null : busy / 100),
  ],
  ['svc_device_power_watts', 'Power draw of an accelerator.', ({ power_w: power }) => power],
  ['svc_device_temperature_celsius', 'Temperature of an accelerator.', (record) => record.temperature_c],
];

/** Registers gauges of the last device readings; `view` returns null before the first reading. */
export function deviceGauges(make: MetricFactory, view: () => HardwareView | null): void {
  const devices = () => namedDevices(view()?.devices ?? []);
  make.gauge('svc_device_memory_bytes', 'Memory of a device.', ['device', 'kind'], (gauge) => {
    const set = (device: string, total: number | null, used: number | null) => {
      if (total !== null) gauge.set({ device, kind: 'total' }, total);
      if (used !== null) gauge.set({ device, kind: 'used' }, used);
    };
    const host = view()?.host;
    if (host) set('host', host.memory_total_bytes, host.memory_total_bytes - host.memory_available_bytes);
    for (const { device, record } of devices())
      set(device, record.memory_total_bytes, record.memory_used_bytes);
  });
  for (const [name, help, value] of LIVE) {
    make.gauge(name, help, ['device'], (gauge) => {
      for (const { device, record } of devices()) {
        const now = value(record);
        if (now !== null) gauge.set({ device }, now);
      }
    });
  }
}
