import type { EvidenceRecord } from '../../../daemon/contract/hardware.ts';

const WORDS: Readonly<Record<string, string>> = {
  name: 'Name',
  access: 'Access',
  driver: 'Driver',
  memory_total_bytes: 'Memory',
  memory_used_bytes: 'Memory in use',
  busy_percent: 'Load',
  power_w: 'Power',
  temperature_c: 'Temperature',
  total_bytes: 'Size',
  available_bytes: 'Available',
  cpu: 'CPU',
  cores: 'Cores',
  memory: 'Memory',
  os: 'System',
  swap: 'Swap',
  disks: 'Disks',
  networks: 'Network',
};

/** Label of a fact. */
export const factWord = (fact: string): string => WORDS[fact] ?? fact;

/** Groups unknown facts by reason. */
export function gapsByReason({
  unread,
}: Pick<EvidenceRecord, 'unread'>): { reason: string; facts: string[] }[] {
  const found = new Map<string, string[]>();
  for (const { fact, reason } of unread) {
    found.set(reason, [...(found.get(reason) ?? []), factWord(fact).toLowerCase()]);
  }
  return [...found].map(([reason, facts]) => ({ reason, facts }));
}
