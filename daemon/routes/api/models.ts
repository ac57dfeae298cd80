import type { CatalogView } from '../../contract/catalog.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { ModelPutBody, ModelRecordView, ModelWithMemory } from '../../contract/models.ts';
import { CATALOG, CATALOG_DATE, installedFrom, pullName, reckoned, typeOf } from '../../models/catalog.ts';
import type { RouteDeps } from '../deps.ts';
import type { Call, Handler } from '../handler.ts';

/** States of a slot that does not hold its model. */
const AWAY: readonly string[] = ['offline', 'error'];

/** `/api/models…`: the registry, and what an administrator may say of its models. */
export function registryRoutes(deps: RouteDeps) {
  const { registry, slots } = deps;
  const audit = (call: Call, action: string, details: Record<string, unknown>) =>
    deps.store.audit.add({
      action: `model.${action}`,
      tier: call.caller.tier,
      address: deps.auth.address(call.auth),
      details,
    });
  const shown = (view: ModelRecordView): ModelWithMemory => ({ ...view, memory: slots.measured(view.id) });
  return {
    models: () => ({ models: registry.views().map(shown) }),
    'model.catalog': () => catalogView(deps),
    'model.put': async (_ctx, call, body) => {
      const id = idOf(deps, call);
      const wanted = body as ModelPutBody;
      if (wanted.binding !== undefined) checkBinding(deps, id, wanted.binding);
      audit(call, wanted.binding === undefined ? 'change' : 'bind', { model: id, ...wanted });
      const view = await registry.change(id, wanted);
      if (view === undefined) throw notFound();
      return shown(view);
    },
    'model.remove': async (_ctx, call) => {
      const id = idOf(deps, call);
      const holders = slots.list().filter(({ model, state }) => model === id && !AWAY.includes(state));
      if (holders.length > 0) {
        throw new GatewayError('model.in_use', { details: { slots: holders.map(({ name }) => name) } });
      }
      const files = await registry.remove(id);
      audit(call, 'remove', { model: id, files });
      return { removed: id, files };
    },
    'model.register': async (_ctx, call, body) => {
      const { path } = body as { path: string };
      const model = await registry.register(path).catch((error: Error) => {
        throw refused('path', error.message);
      });
      audit(call, 'register', { model: model.id });
      return shown(registry.views().find(({ id }) => id === model.id) ?? model);
    },
    'model.scan': async () => {
      await registry.scan();
      return { models: registry.list().length, problems: [...registry.problems()] };
    },
  } satisfies Record<string, Handler>;
}

/** The list with what this machine makes of it. */
function catalogView({ registry, slots }: RouteDeps): CatalogView {
  const here = registry.views();
  const entries = CATALOG.map((known) => {
    const { sizeBytes, ...rest } = reckoned(known);
    const type = typeOf(known);
    const model = { id: known.repo, path: null, type, demo: false, sizeBytes, ...rest };
    return {
      model: pullName(known),
      name: known.name,
      purpose: known.purpose,
      type,
      pullable: type !== 'image',
      note: known.note,
      licence: known.licence,
      size_bytes: sizeBytes,
      context_length: known.context,
      fit: slots.fit(model),
      installed: installedFrom(known, here),
    };
  });
  return { as_of: CATALOG_DATE, entries };
}

const notFound = () => new GatewayError('model.not_found', { param: 'model' });

function idOf(deps: RouteDeps, call: Call): string {
  const id = call.params.id ?? '';
  if (!deps.registry.get(id)) throw notFound();
  return id;
}

/** Who may answer to a model's id: a slot that holds this model, or an upstream. */
function checkBinding(deps: RouteDeps, id: string, binding: string | null): void {
  const [kind, name = ''] = binding?.split(':') ?? [];
  if (kind === 'upstream' && !deps.upstreams.config(name)) throw new GatewayError('upstream.not_found');
  if (kind !== 'slot') return;
  const slot = deps.slots.get(name);
  if (!slot) throw new GatewayError('slot.not_found');
  if (slot.model !== id) throw refused('binding', 'this slot serves another model; give it this one first');
}

const refused = (path: string, reason: string) =>
  new GatewayError('request.invalid', { details: { fields: [{ path, reason }] } });
