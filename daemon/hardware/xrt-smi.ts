import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeviceInfo, DevicePatch } from './device-facts.ts';
import { pciAddress } from './pci-scan.ts';
import { asRecord, parseJson, type Tool } from './tools.ts';

const MAX_BYTES = 1 << 20;
const UNSEEN =
  'XRT does not see it: its plugin for the amdxdna driver is missing (package xrt-plugin-amdxdna), or its device node is not accessible';
const NOT_READY = 'XRT reports that it is not ready: its firmware did not load (see the kernel log)';

export interface XrtDevice {
  /** PCI address. Null when it has a non-standard format. */
  readonly id: string | null;
  readonly ready: boolean;
}

/** Parses the devices of `xrt-smi examine -f JSON`. Null for other text. */
export function parseXrt(text: string): XrtDevice[] | null {
  const { devices } = asRecord(asRecord(asRecord(parseJson(text)).system).host);
  if (!Array.isArray(devices)) return null;
  return devices.slice(0, 16).map((entry) => {
    const { bdf, is_ready } = asRecord(entry);
    return { id: typeof bdf === 'string' ? pciAddress(bdf) : null, ready: String(is_ready) !== 'false' };
  });
}

/**
 * Returns the patch of each NPU from XRT's list. A single device on both sides is a match in any address
 * format.
 */
export function evaluateNpus(
  listed: readonly XrtDevice[],
  npus: readonly Pick<DeviceInfo, 'id'>[],
): Map<string, DevicePatch> {
  const alone = listed.length === 1 && npus.length === 1 && listed[0]?.id === null;
  return new Map(
    npus.map(({ id }) => {
      const match = listed.find((device) => device.id === id || alone);
      if (match === undefined) return [id, { runtimeProblem: UNSEEN }];
      return [id, match.ready ? { toolAnswered: true } : { runtimeProblem: NOT_READY }];
    }),
  );
}

async function readHead(file: string): Promise<string> {
  const handle = await open(file).catch(() => null);
  if (handle === null) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * Reads XRT's data about AMD's NPUs by PCI address. Empty when it is not installed. The tool writes JSON only
 * to a file.
 */
export async function readXrtSmi(tool: Tool, npus: readonly DeviceInfo[]): Promise<Map<string, DevicePatch>> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-xrt-'));
  try {
    const file = join(folder, 'examine.json');
    const result = await tool('xrt-smi', ['examine', '-f', 'JSON', '-o', file]);
    const listed = result.code === 0 ? parseXrt(await readHead(file)) : null;
    return listed === null ? new Map() : evaluateNpus(listed, npus);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
