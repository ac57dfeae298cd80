import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Share of the machine's processors that worked between two texts of `/proc/stat`, from 0 to 1; null for texts without it. */
export function busyBetween(before: string, after: string): number | null {
  const [one, two] = [ticks(before), ticks(after)];
  if (one === null || two === null || two.all <= one.all) return null;
  return 1 - (two.idle - one.idle) / (two.all - one.all);
}

/** Ticks of all processors: `cpu user nice system idle iowait irq softirq steal …` (proc(5)); stolen ones are work of others. */
function ticks(text: string): { readonly all: number; readonly idle: number } | null {
  const counts = /^cpu +([\d ]+)$/m.exec(text)?.[1]?.trim().split(/ +/).slice(0, 8).map(Number);
  if (counts === undefined || counts.length < 5) return null;
  return { all: counts.reduce((sum, each) => sum + each, 0), idle: (counts[3] ?? 0) + (counts[4] ?? 0) };
}

const LOOK_MS = 2_000;
/** With more of the machine at work for others, what is measured is them. */
const MOST = 0.25;

const stat = (): string => {
  try {
    return readFileSync('/proc/stat', 'utf8');
  } catch {
    return '';
  }
};

/** Why nothing can be measured here now, or null. To be asked while nothing of ours runs; takes two seconds. */
export async function tooBusy(): Promise<string | null> {
  const before = stat();
  await sleep(LOOK_MS);
  const busy = busyBetween(before, stat());
  if (busy === null || busy <= MOST) return null;
  return `${Math.round(busy * 100)} % of this machine works for others`;
}
