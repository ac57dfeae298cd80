import type { Vendor } from './device-facts.ts';

/** Identity of devices whose driver does not report it. Keyed by `vendor:device` in hexadecimal. */
export interface KnownDevice {
  /** Shown when no tool on the machine has a better name. */
  name: string;
  /** Uses the host's memory. */
  integrated?: true;
  /** Display graphics with two compute units. */
  small?: true;
}

export const VENDORS: Readonly<Record<number, Vendor>> = {
  4318: 'nvidia',
  4098: 'amd',
  4130: 'amd',
  32902: 'intel',
};

const apu = (name: string): KnownDevice => ({ name, integrated: true });
const display = (name: string): KnownDevice => ({ name, integrated: true, small: true });

export const KNOWN_DEVICES: Readonly<Record<string, KnownDevice>> = {
  '1002:1586': apu('AMD Radeon graphics (Strix Halo)'),
  '1002:150e': apu('AMD Radeon graphics (Strix Point)'),
  '1002:1114': apu('AMD Radeon graphics (Krackan Point)'),
  '1002:1900': apu('AMD Radeon graphics (Hawk Point)'),
  '1002:1901': apu('AMD Radeon graphics (Hawk Point)'),
  '1002:15bf': apu('AMD Radeon graphics (Phoenix)'),
  '1002:15c8': apu('AMD Radeon graphics (Phoenix)'),
  '1002:1681': apu('AMD Radeon graphics (Rembrandt)'),
  '1002:163f': apu('AMD Radeon graphics (Van Gogh)'),
  '1002:1638': apu('AMD Radeon graphics (Cezanne)'),
  '1002:15e7': apu('AMD Radeon graphics (Barcelo)'),
  '1002:164c': apu('AMD Radeon graphics (Lucienne)'),
  '1002:1636': apu('AMD Radeon graphics (Renoir)'),
  '1002:15d8': apu('AMD Radeon graphics (Picasso)'),
  '1002:15dd': apu('AMD Radeon graphics (Raven Ridge)'),
  '1002:1506': display('AMD Radeon graphics (Mendocino)'),
  '1002:164e': display('AMD Radeon graphics (Raphael)'),
  '1002:13c0': display('AMD Radeon graphics (Granite Ridge)'),
  '1022:17f0': { name: 'AMD XDNA 2 NPU' },
  '1022:1502': { name: 'AMD XDNA NPU' },
  '8086:e20b': { name: 'Intel Arc B580' },
  '8086:e20c': { name: 'Intel Arc B570' },
  '8086:e211': { name: 'Intel Arc Pro B60' },
  '8086:e212': { name: 'Intel Arc Pro B50' },
  '8086:7d67': apu('Intel graphics (Arrow Lake)'),
  '8086:7d1d': { name: 'Intel NPU (Meteor Lake)' },
  '8086:ad1d': { name: 'Intel NPU (Arrow Lake)' },
  '8086:643e': { name: 'Intel NPU (Lunar Lake)' },
};

/** GB10 and related GPUs have no dedicated memory. */
export const NVIDIA_UNIFIED = { firstId: 0x2e00, lastId: 0x2e3f, name: /\b(GB10|GH200|Grace)\b/ };

const hex = (value: number) => value.toString(16).padStart(4, '0');

export function deviceKey(vendorId: number, deviceId: number): string {
  return `${hex(vendorId)}:${hex(deviceId)}`;
}
