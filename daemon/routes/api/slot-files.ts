import type { SlotSettingsBody, SlotWorkflowSettings } from '../../contract/slots.ts';
import { ifMatchGuard } from '../../settings/revision.ts';
import { audit } from '../audit.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

/**
 * Slot files over the API: only the keys of `SlotSettings`; programs, arguments, environment, image and
 * mounts are set in the file only. All other bytes of a file stay unchanged. A slot with a broken file has no
 * record but can be changed and removed: its name is looked up among the existing files.
 */
export function slotFileRoutes(deps: RouteDeps) {
  const reload = () => deps.slots.reload();
  const create: Handler = async (ctx) => {
    const { name, ...settings } = ctx.request.body as SlotSettingsBody & { name: string };
    ctx.body = await configWrite(() => deps.slots.create(name, settings));
    ctx.status = 201;
    audit(deps, ctx, 'slot.create', { slot: name, settings });
  };
  const change: Handler = async (ctx) => {
    const settings = ctx.request.body as SlotSettingsBody;
    const name = ctx.params.name ?? '';
    const guard = ifMatchGuard(ctx.req.headers['if-match']);
    ctx.body = await configWrite(() => deps.slots.change(name, settings, guard), reload);
    audit(deps, ctx, 'slot.change', { slot: name, settings });
  };
  const workflow: Handler = async (ctx) => {
    const body = ctx.request.body as SlotWorkflowSettings;
    const name = ctx.params.name ?? '';
    ctx.body = await configWrite(() => deps.slots.setWorkflow(name, body), reload);
    audit(deps, ctx, 'slot.workflow', { slot: name, file: body.file, inputs: body.inputs });
  };
  const remove: Handler = async (ctx) => {
    const name = ctx.params.name ?? '';
    await configWrite(() => deps.slots.remove(name, ifMatchGuard(ctx.req.headers['if-match'])), reload);
    audit(deps, ctx, 'slot.remove', { slot: name });
    ctx.body = { ok: true };
  };
  return {
    'slot.create': create,
    'slot.change': change,
    'slot.workflow': workflow,
    'slot.remove': remove,
  } satisfies Record<string, Handler>;
}
