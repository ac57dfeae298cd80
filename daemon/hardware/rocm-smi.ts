import type { DeviceInfo, DevicePatch } from './device-facts.ts';
import { pciAddress } from './pci-scan.ts';
import { asRecord, looseNumber, parseJson, type Tool } from './tools.ts';

const QUERY = ['--showproductname', '--showuse', '--showmeminfo', 'all', '--json'];

export interface RocmCard {
  /** PCI address. Null in outputs that lack it. */
  readonly id: string | null;
  readonly deviceId: number | null;
  readonly patch: DevicePatch;
}

const hexNumber = (value: unknown): number | null =>
  typeof value === 'string' && /^0x[0-9a-f]{1,4}$/i.test(value) ? Number(value) : null;

function readCard(value: unknown): RocmCard {
  const card = asRecord(value);
  const bus = card['PCI Bus'];
  const memoryTotal = looseNumber(card['VRAM Total Memory (B)']);
  const memoryUsed = looseNumber(card['VRAM Total Used Memory (B)']);
  return {
    id: typeof bus === 'string' ? pciAddress(bus) : null,
    deviceId: hexNumber(card['Card Model']) ?? hexNumber(card['Device ID']),
    patch: {
      memoryTotal,
      memoryUsed,
      memoryFree: memoryTotal === null || memoryUsed === null ? null : Math.max(0, memoryTotal - memoryUsed),
      gttTotal: looseNumber(card['GTT Total Memory (B)']),
      gttUsed: looseNumber(card['GTT Total Used Memory (B)']),
      busyPercent: looseNumber(card['GPU use (%)']),
      toolAnswered: true,
    },
  };
}

/**
 * Parses the cards of `rocm-smi --json`. Every number is a string, and the output may be a warning instead of
 * JSON.
 */
export function parseRocm(text: string): RocmCard[] {
  const cards = Object.entries(asRecord(parseJson(text))).filter(([key]) => /^card\d+$/.test(key));
  return cards.map(([, value]) => readCard(value));
}

/** Matches cards to devices by address, else by model when both sides have only one of it. */
export function matchCards(
  cards: readonly RocmCard[],
  devices: readonly Pick<DeviceInfo, 'id' | 'deviceId'>[],
): Map<string, DevicePatch> {
  const patches = new Map<string, DevicePatch>();
  for (const { id, deviceId, patch } of cards) {
    if (id !== null) {
      patches.set(id, patch);
      continue;
    }
    const alike = devices.filter((device) => deviceId !== null && device.deviceId === deviceId);
    const sameModel = cards.filter((card) => card.deviceId === deviceId);
    if (alike.length === 1 && sameModel.length === 1) patches.set((alike[0] as DeviceInfo).id, patch);
  }
  return patches;
}

/** Reads the older ROCm tool, for machines without amd-smi. Null when it reports nothing. */
export async function readRocmSmi(
  tool: Tool,
  devices: readonly DeviceInfo[],
): Promise<Map<string, DevicePatch> | null> {
  const result = await tool('rocm-smi', QUERY);
  const cards = result.code === 0 ? parseRocm(result.stdout) : [];
  return cards.length === 0 ? null : matchCards(cards, devices);
}
