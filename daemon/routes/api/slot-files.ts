import type { SlotRecord, SlotSettingsBody } from '../../contract/slots.ts';
import { audit } from '../audit.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { namedSlot } from './slots.ts';

/**
 * Slot files over the API: only the keys of `SlotSettings` (what names a program, its arguments, environment, image or
 * mount comes from the file alone), and every other byte of a file stays as it is.
 */
export function slotFileRoutes(deps: RouteDeps) {
  const create: Handler = async (ctx, call, body): Promise<SlotRecord> => {
    const { name, ...settings } = body as SlotSettingsBody & { name: string };
    const slot = await configWrite(() => deps.slots.create(name, settings));
    audit(deps, call, 'slot.create', { slot: name, settings });
    ctx.status = 201;
    return slot;
  };
  const change: Handler = async (_ctx, call, body): Promise<SlotRecord> => {
    const settings = body as SlotSettingsBody;
    const { name } = namedSlot(deps, call);
    const slot = await configWrite(() => deps.slots.change(name, settings));
    audit(deps, call, 'slot.change', { slot: name, settings });
    return slot;
  };
  const remove: Handler = async (_ctx, call) => {
    const { name } = namedSlot(deps, call);
    await configWrite(() => deps.slots.remove(name));
    audit(deps, call, 'slot.remove', { slot: name });
    return { ok: true };
  };
  return {
    'slot.create': create,
    'slot.change': change,
    'slot.remove': remove,
  } satisfies Record<string, Handler>;
}
