import type { SlotRecord } from '../../contract/slots.ts';
import { type Gateway, until } from './gateway.ts';
import { type Answer, ask } from './http.ts';

/** The record of a slot as `GET /api/slots/{name}` shows it. */
export async function slot(gateway: Gateway, name: string, key?: string): Promise<SlotRecord> {
  return (await ask(gateway, 'GET', `/api/slots/${name}`, { key })).json<SlotRecord>();
}

/** The records of all slots. */
export const slots = async (gateway: Gateway, key?: string): Promise<SlotRecord[]> =>
  (await ask(gateway, 'GET', '/api/slots', { key })).json<{ slots: SlotRecord[] }>().slots;

/** Loads, unloads or restarts a slot and answers when that is done. */
export const slotDo = (
  gateway: Gateway,
  name: string,
  action: 'load' | 'unload' | 'restart',
): Promise<Answer> => ask(gateway, 'POST', `/api/slots/${name}/${action}`, { silenceMs: 60_000 });

/** Waits until a slot is in `state` and answers its record. */
export async function slotState(
  gateway: Gateway,
  name: string,
  state: SlotRecord['state'],
  key?: string,
  limitMs = 30_000,
): Promise<SlotRecord> {
  let seen = await slot(gateway, name, key);
  await until(
    async () => {
      seen = await slot(gateway, name, key);
      return seen.state === state;
    },
    `slot ${name} to be ${state}`,
    limitMs,
  );
  return seen;
}

/** Waits until nobody is served by a slot. */
export const slotIdle = (gateway: Gateway, name: string, key?: string, limitMs?: number): Promise<void> =>
  until(async () => (await slot(gateway, name, key)).active === 0, `slot ${name} to serve nobody`, limitMs);
