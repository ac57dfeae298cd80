import { pciAddress } from './pci-scan.ts';
import type { Tool } from './tools.ts';

/** Parses names by PCI address from `lspci -Dmmnn`. Only marketing names in brackets are used. */
export function parseLspci(text: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const line of text.split('\n').slice(0, 4096)) {
    const id = pciAddress(line.slice(0, line.indexOf(' ')));
    const device = [...line.matchAll(/"([^"]*)"/g)][2]?.[1];
    if (id === null || device === undefined) continue;
    const marketing = /\[([^\]]*)\]\s*\[[0-9a-f]{4}\]$/.exec(device)?.[1];
    if (marketing !== undefined) names.set(id, marketing);
  }
  return names;
}

/** Reads names from the machine's PCI list. Empty when lspci is not installed. */
export async function readLspci(tool: Tool): Promise<Map<string, string>> {
  const result = await tool('lspci', ['-Dmmnn']);
  return result.code === 0 ? parseLspci(result.stdout) : new Map();
}
