import type { DeviceInfo } from './device-facts.ts';
import type { Tree } from './kernel-tree.ts';
import { pciAddress } from './pci-scan.ts';
import { looseNumber, type Tool } from './tools.ts';

const MIB = 1_048_576;
/** Maximum number of output lines and of files per process. */
const MAX_LINES = 4096;
const MAX_FILES = 1024;
const UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: MIB };

export const CARD_APPS_QUERY = [
  '--query-compute-apps=gpu_bus_id,pid,used_memory',
  '--format=csv,noheader,nounits',
];

/**
 * Returns the bytes that these processes use on a card, from nvidia-smi's list of compute processes. Null
 * when none of them is listed with a number (a driver without data writes `[N/A]`).
 */
export function parseCardApps(csv: string, card: string, pids: ReadonlySet<number>): number | null {
  let sum: number | null = null;
  for (const line of csv.split('\n').slice(0, MAX_LINES)) {
    const [bus = '', pid, used] = line.split(',').map((cell) => cell.trim());
    const bytes = looseNumber(used);
    if (pciAddress(bus) !== card || bytes === null || !pids.has(Number(pid))) continue;
    sum = (sum ?? 0) + bytes * MIB;
  }
  return sum;
}

/** One client of a card's driver, from a file in `/proc/PID/fdinfo` (kernel, "DRM client usage stats"). */
interface Client {
  readonly card: string;
  readonly id: string;
  readonly bytes: number;
}

/** Regions of a card's own memory: `vram`, `vram0`… or, under i915, `local0`…. */
const OWN_REGIONS = '(vram|local)';
/** The regions of a GPU that runs models on the host's memory: its carve-out, and pages of the host. */
const UNIFIED_REGIONS = '(vram|local|gtt|system)';

/**
 * Parses the GPU memory in an fdinfo file. Null for other files. Resident memory has priority over the older keys.
 */
export function parseFdinfo(text: string, regions = OWN_REGIONS): Client | null {
  const values = new Map(
    text.split('\n').flatMap((line): [string, string][] => {
      const at = line.indexOf(':');
      return at < 0 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
    }),
  );
  const card = pciAddress(values.get('drm-pdev') ?? '');
  const id = values.get('drm-client-id');
  if (card === null || id === undefined) return null;
  for (const kind of ['resident', 'memory', 'total']) {
    const sizes = [...values].filter(([key]) => new RegExp(`^drm-${kind}-${regions}\\d*$`).test(key));
    if (sizes.length > 0) return { card, id, bytes: sizes.reduce((sum, [, size]) => sum + sizeOf(size), 0) };
  }
  return null;
}

function sizeOf(text: string): number {
  const [, amount = '0', unit = ''] = /^(\d+)(?:\s+(KiB|MiB))?$/.exec(text) ?? [];
  return Number(amount) * (UNITS[unit] ?? 0);
}

/**
 * Returns the bytes used on one card. Counts several descriptors of one client once. Null when no client uses
 * it.
 */
export function sumClients(clients: readonly (Client | null)[], card: string): number | null {
  const own = new Map(
    clients.flatMap((each) => (each?.card === card ? [[each.id, each.bytes] as const] : [])),
  );
  return own.size === 0 ? null : [...own.values()].reduce((sum, bytes) => sum + bytes, 0);
}

async function clientsOf(tree: Tree, pid: number, regions: string): Promise<(Client | null)[]> {
  const folder = `proc/${pid}/fdinfo`;
  const names = (await tree.names(folder)).slice(0, MAX_FILES);
  const texts = await Promise.all(names.map((name) => tree.text(`${folder}/${name}`)));
  return texts.map((text) => (text === null ? null : parseFdinfo(text, regions)));
}

/**
 * Returns the bytes that these processes use of a card's own memory, or of the host's through a GPU with unified
 * memory. Null when the machine does not report it. NVIDIA's driver reports through its tool, AMD's and Intel's through
 * the kernel.
 */
export async function cardMemory(
  { tree, tool }: { readonly tree: Tree; readonly tool: Tool },
  device: Pick<DeviceInfo, 'id' | 'vendor' | 'toolAnswered'>,
  pids: readonly number[],
  isUnified = false,
): Promise<number | null> {
  if (device.vendor !== 'nvidia') {
    const regions = isUnified ? UNIFIED_REGIONS : OWN_REGIONS;
    const clients = await Promise.all(pids.map((pid) => clientsOf(tree, pid, regions)));
    return sumClients(clients.flat(), device.id);
  }
  if (!device.toolAnswered) return null;
  const { code, stdout } = await tool('nvidia-smi', CARD_APPS_QUERY);
  return code === 0 ? parseCardApps(stdout, device.id, new Set(pids)) : null;
}
