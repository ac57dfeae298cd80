import type { SlotRecord } from '../contract/slots.ts';
import type { StoreHealth } from '../store/health.ts';

const ORDER: readonly SlotRecord['state'][] = [
  'serving',
  'ready',
  'starting',
  'warming',
  'pulling',
  'draining',
  'stopping',
  'offline',
  'error',
];

/** Returns one line for `systemctl status`: slots by state, and the database when it fails. */
export function statusLine(slots: readonly Pick<SlotRecord, 'state'>[], store: StoreHealth): string {
  const counts = ORDER.map((state) => [state, slots.filter((slot) => slot.state === state).length] as const);
  const states = counts.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${state}`);
  const line = `${slots.length} slot${slots.length === 1 ? '' : 's'}${states.length > 0 ? `: ${states.join(', ')}` : ''}`;
  return store.status === 'failed' ? `${line}. ${store.message}` : line;
}
