import type { SlotRecord } from '../contract/slots.ts';
import type { CommandContext } from './command.ts';
import { duration } from './format.ts';
import { cut } from './output.ts';

const LOOK_MS = 500;
const BAR = 24;

/** `[######------]  50 %`; empty when the share is unknown. */
export function bar(share: number | null | undefined): string {
  if (share == null) return '';
  const part = Math.min(1, Math.max(0, share));
  const full = Math.round(part * BAR);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}] ${String(Math.floor(part * 100)).padStart(3)} %`;
}

/** What a slot is doing, in one line. */
export function progressLine(slot: SlotRecord, elapsedMs: number, width: number): string {
  const waits = slot.waiting_for?.length ? `waits for ${slot.waiting_for.join(', ')}` : slot.state;
  const parts = [`${slot.name}: ${waits}`, bar(slot.progress), duration(elapsedMs), slot.model ?? ''];
  return cut(parts.filter((part) => part !== '').join('  '), width);
}

/** Waits for `act` and, where somebody looks, shows meanwhile what the slot does. Looking wakes nothing. */
export async function whileLoading<T>(
  { client, status, watched, width }: CommandContext,
  name: string,
  act: Promise<T>,
): Promise<T> {
  if (!watched) return act;
  const began = Date.now();
  const look = async () => {
    const slot = await client.call<SlotRecord>('slot', undefined, { params: { name } }).catch(() => null);
    if (slot !== null) status(progressLine(slot, Date.now() - began, width - 1));
  };
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look().finally(() => {
      looking = false;
    });
  }, LOOK_MS);
  try {
    return await act;
  } finally {
    clearInterval(timer);
    status(null);
  }
}
