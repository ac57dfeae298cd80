import type { SlotRecord } from '../contract/slots.ts';
import type { CommandContext } from './command.ts';
import { duration } from './format.ts';
import { truncate } from './table.ts';

const POLL_MS = 500;
const BAR = 24;

/** `[######------]  50 %`; empty when the share is unknown. */
export function bar(share: number | null | undefined): string {
  if (share == null) return '';
  const part = Math.min(1, Math.max(0, share));
  const full = Math.round(part * BAR);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}] ${String(Math.floor(part * 100)).padStart(3)} %`;
}

/** The state of a slot, in one line. */
export function progressLine(slot: SlotRecord, elapsedMs: number, width: number): string {
  const waits = slot.waiting_for?.length ? `waits for ${slot.waiting_for.join(', ')}` : slot.state;
  const parts = [`${slot.name}: ${waits}`, bar(slot.progress), duration(elapsedMs), slot.model ?? ''];
  return truncate(parts.filter((part) => part !== '').join('  '), width);
}

/** Waits for `act`. On a terminal it shows the state of the slot meanwhile. Polling loads nothing. */
export async function whileLoading<T>(
  { client, status, isInteractive, statusWidth }: CommandContext,
  name: string,
  act: Promise<T>,
): Promise<T> {
  if (!isInteractive) return act;
  const startedAt = Date.now();
  const poll = async () => {
    const slot = await client.call<SlotRecord>('slot', undefined, { params: { name } }).catch(() => null);
    if (slot !== null) status(progressLine(slot, Date.now() - startedAt, statusWidth));
  };
  let isPolling = false;
  const timer = setInterval(() => {
    if (isPolling) return;
    isPolling = true;
    void poll().finally(() => {
      isPolling = false;
    });
  }, POLL_MS);
  try {
    return await act;
  } finally {
    clearInterval(timer);
    status(null);
  }
}
