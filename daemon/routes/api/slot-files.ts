import type { SlotRecord, SlotSettingsBody } from '../../contract/slots.ts';
import { ifMatchGuard } from '../../settings/revision.ts';
import { audit } from '../audit.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyHandler as Handler } from '../handler.ts';

/**
 * Slot files over the API: only the keys of `SlotSettings`; programs, arguments, environment, image and
 * mounts are set in the file only. All other bytes of a file stay unchanged. A slot with a broken file has no
 * record but can be changed and removed: its name is looked up among the existing files.
 */
export function slotFileRoutes(deps: RouteDeps) {
  const reload = () => deps.slots.reload();
  const create: Handler = async (ctx, call, body): Promise<SlotRecord> => {
    const { name, ...settings } = body as SlotSettingsBody & { name: string };
    const slot = await configWrite(() => deps.slots.create(name, settings));
    audit(deps, call, 'slot.create', { slot: name, settings });
    ctx.status = 201;
    return slot;
  };
  const change: Handler = async (ctx, call, body): Promise<SlotRecord> => {
    const settings = body as SlotSettingsBody;
    const name = call.params.name ?? '';
    const guard = ifMatchGuard(ctx.req.headers['if-match']);
    const slot = await configWrite(() => deps.slots.change(name, settings, guard), reload);
    audit(deps, call, 'slot.change', { slot: name, settings });
    return slot;
  };
  const remove: Handler = async (ctx, call) => {
    const name = call.params.name ?? '';
    await configWrite(() => deps.slots.remove(name, ifMatchGuard(ctx.req.headers['if-match'])), reload);
    audit(deps, call, 'slot.remove', { slot: name });
    return { ok: true };
  };
  return {
    'slot.create': create,
    'slot.change': change,
    'slot.remove': remove,
  } satisfies Record<string, Handler>;
}
