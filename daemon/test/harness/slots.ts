import type { SlotRecord } from '../../contract/slots.ts';
import { type Gateway, until } from './gateway.ts';
import { type HttpResponse, send } from './http.ts';

/** Fetches the record of a slot. */
export async function slot(gateway: Gateway, name: string, key?: string): Promise<SlotRecord> {
  return (await send(gateway, 'GET', `/api/slots/${name}`, { key })).json<SlotRecord>();
}

/** Fetches the records of all slots. */
export const slots = async (gateway: Gateway, key?: string): Promise<SlotRecord[]> =>
  (await send(gateway, 'GET', '/api/slots', { key })).json<{ slots: SlotRecord[] }>().slots;

/** Loads, unloads or restarts a slot. Resolves when it is done. */
export const runSlotAction = (
  gateway: Gateway,
  name: string,
  action: 'load' | 'unload' | 'restart',
): Promise<HttpResponse> => send(gateway, 'POST', `/api/slots/${name}/${action}`, { idleTimeoutMs: 60_000 });

/** Waits until a slot is in `state` and returns its record. */
export async function waitForSlotState(
  gateway: Gateway,
  name: string,
  state: SlotRecord['state'],
  key?: string,
  limitMs = 30_000,
): Promise<SlotRecord> {
  let record = await slot(gateway, name, key);
  await until(
    async () => {
      record = await slot(gateway, name, key);
      return record.state === state;
    },
    `slot ${name} to be ${state}`,
    limitMs,
  );
  return record;
}

/** Waits until a slot serves no request. */
export const waitForIdleSlot = (
  gateway: Gateway,
  name: string,
  key?: string,
  limitMs?: number,
): Promise<void> =>
  until(async () => (await slot(gateway, name, key)).active === 0, `slot ${name} to be idle`, limitMs);
