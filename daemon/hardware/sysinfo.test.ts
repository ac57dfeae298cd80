import { expect, test } from 'vitest';
import {
  cpuNameOf,
  cpuValuesOf,
  disksOf,
  graphicsNamesOf,
  networksOf,
  parseSysinfo,
  readGraphicsNames,
  readSysinfo,
  runSysinfo,
  swapOf,
} from './sysinfo.ts';

test('parses complete lines and drops a line that the time limit cut', () => {
  const lines = [
    '{"subject":"cpu","value":{"brand":"EPYC"}}',
    '{"subject":"disks","value":null}',
    '{"subject":"load","val',
  ];
  expect(parseSysinfo(lines.join('\n'))).toEqual({ cpu: { brand: 'EPYC' } });
  expect(parseSysinfo('')).toEqual({});
  expect(parseSysinfo('error: no such module')).toEqual({});
});

test.each([
  [{ manufacturer: 'AMD', brand: ' EPYC ' }, 'AMD EPYC'],
  [{ manufacturer: '', brand: 'Cortex-A76' }, 'Cortex-A76'],
  [{ manufacturer: ' ', brand: '' }, null],
  [undefined, null],
])('name of the processor from %j', (cpu, name) => {
  expect(cpuNameOf({ cpu })).toBe(name);
});

test.each([
  [{ currentLoad: 33.3333 }, { main: 54 }, { busyPercent: 33.3, temperatureC: 54 }],
  [{ currentLoad: 0 }, { main: null }, { busyPercent: 0, temperatureC: null }],
  [{ currentLoad: 100.4 }, { main: 0 }, { busyPercent: 100, temperatureC: null }],
  [undefined, undefined, { busyPercent: null, temperatureC: null }],
])('load %j and temperature %j', (load, temperature, values) => {
  expect(cpuValuesOf({ load, temperature })).toEqual(values);
});

test('a machine without swap has 0 bytes, an unread one none', () => {
  expect(swapOf({ memory: { swaptotal: 0, swapused: 0 } })).toEqual({ totalBytes: 0, usedBytes: 0 });
  expect(swapOf({})).toBeNull();
});

test('lists each device once, by its shortest mount point, without pseudo file systems', () => {
  const disks = [
    { fs: '/dev/sda2', type: 'ext4', size: 100, available: 40, mount: '/var/lib/svc' },
    { fs: '/dev/sda2', type: 'ext4', size: 100, available: 40, mount: '/' },
    { fs: 'nas:/models', type: 'nfs4', size: 900, available: 1, mount: '/models' },
    { fs: 'tmpfs', type: 'tmpfs', size: 10, available: 10, mount: '/run' },
    { fs: 'overlay', type: 'overlay', size: 10, available: 10, mount: '/merged' },
    { fs: '/dev/sdb', type: 'vfat', size: 0, available: 0, mount: '/empty' },
    { fs: '/dev/sdc', type: 'xfs', size: 5, mount: '/odd' },
    null,
    'text',
  ];
  expect(disksOf({ disks })).toEqual([
    { mount: '/', type: 'ext4', total_bytes: 100, available_bytes: 40 },
    { mount: '/models', type: 'nfs4', total_bytes: 900, available_bytes: 1 },
    { mount: '/odd', type: 'xfs', total_bytes: 5, available_bytes: null },
  ]);
  expect(disksOf({ disks: 'none' })).toEqual([]);
  const many = Array.from({ length: 200 }, (_, i) => ({
    fs: `/dev/${i}`,
    type: 'ext4',
    size: 1,
    mount: `/${i}`,
  }));
  expect(disksOf({ disks: many })).toHaveLength(32);
});

test('lists interfaces that are up and have an address', () => {
  const one = {
    iface: 'eth0',
    type: 'wired',
    ip4: '192.0.2.2',
    ip6: '',
    speed: 1000,
    default: true,
    internal: false,
    operstate: 'up',
  };
  const network = [
    { ...one, iface: 'lo', internal: true },
    one,
    { ...one, iface: 'wlan0', operstate: 'down' },
    { ...one, iface: 'br0', ip4: '', speed: -1, default: false },
    { ...one, iface: 'tun0', ip4: '', ip6: 'fd00::1', speed: null, default: false },
  ];
  expect(networksOf({ network })).toEqual([
    { name: 'eth0', kind: 'wired', ipv4: '192.0.2.2', ipv6: null, speed_mbit: 1000, default: true },
    { name: 'tun0', kind: 'wired', ipv4: null, ipv6: 'fd00::1', speed_mbit: null, default: false },
  ]);
});

test('names graphics devices by PCI address, with or without a domain', () => {
  const controllers = [
    { busAddress: '01:00.0', model: 'GA102 [GeForce RTX 3090]', vram: 256 },
    { pciBus: '00000000:84:00.0', model: 'NVIDIA A2' },
    { busAddress: 'usb', model: 'DisplayLink' },
    { busAddress: '02:00.0', model: '' },
  ];
  expect([...graphicsNamesOf({ graphics: { controllers } })]).toEqual([
    ['0000:01:00.0', 'GA102 [GeForce RTX 3090]'],
    ['0000:84:00.0', 'NVIDIA A2'],
  ]);
});

test('the real child reports this machine', async () => {
  const path = '/usr/sbin:/usr/bin:/sbin:/bin';
  expect(await readSysinfo(path)).toMatchObject({
    cpu: expect.stringMatching(/\S/),
    by: 'systeminformation',
  });
  const { values, leftBehind } = await runSysinfo(
    ['load', 'temperature', 'memory', 'network', 'disks'],
    path,
  );
  expect(leftBehind).toBeUndefined();
  const { busyPercent } = cpuValuesOf(values);
  expect(busyPercent).toBeGreaterThanOrEqual(0);
  expect(busyPercent).toBeLessThanOrEqual(100);
  expect(swapOf(values)?.totalBytes).toBeGreaterThanOrEqual(0);
  expect(disksOf(values).length).toBeGreaterThan(0);
  expect(Array.isArray(networksOf(values))).toBe(true);
  expect(await readGraphicsNames(path)).toBeInstanceOf(Map);
});

test('an aborted child still gives a name of the processor', async () => {
  expect((await readSysinfo('/usr/bin:/bin', AbortSignal.abort())).cpu).not.toBe('');
});
