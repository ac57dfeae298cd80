import { basename } from 'node:path';
import type { CatalogUpdateBody, CatalogView } from '../../contract/catalog.ts';
import { GatewayError } from '../../contract/errors.ts';
import { invalidRequest } from '../../contract/invalid-request.ts';
import type { ModelProblemView, ModelPutBody, ModelWithMemory } from '../../contract/models.ts';
import { slotNotFound, upstreamNotFound } from '../../contract/not-found.ts';
import { estimateHeader, installedFrom, splitPullName, typeOf } from '../../models/catalog.ts';
import { modelView, type RegisteredModel } from '../../models/registered-model.ts';
import { type Unusable, unservedFormat } from '../../models/unusable-formats.ts';
import { embedded } from '../../slots/engines/embedded.ts';
import type { Slots } from '../../slots/slots-api.ts';
import { audit } from '../audit.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import { disconnectSignal } from '../disconnect-signal.ts';
import type { Handler, RouteContext } from '../handler.ts';

/** States of a slot that does not hold its model. */
const UNLOADED: readonly string[] = ['offline', 'error'];

/** `/api/models…`: the registry, and the changeable properties of its models. */
export function registryRoutes(deps: RouteDeps) {
  const { registry, slots, catalog } = deps;
  const shown = (id: string): ModelWithMemory => {
    const model = registry.get(id);
    if (model === undefined) throw notFound();
    return modelWithMemory(model, slots, slotIndexOf(slots));
  };
  /** Loads the model into the slot and stores the binding, unless it was changed meanwhile. */
  const bindBySwap = async (id: string, slot: string, binding: string | null): Promise<void> => {
    const before = registry.get(id)?.binding ?? null;
    await configWrite(() => slots.swap(slot, { modelId: id }));
    if ((registry.get(id)?.binding ?? null) === before) await registry.change(id, { binding });
  };
  const list: Handler = (ctx) => {
    const places = slotIndexOf(slots);
    ctx.body = {
      models: registry.list().map((model) => modelWithMemory(model, slots, places)),
      problems: problemsOf(deps, places),
    };
  };
  const put: Handler = async (ctx) => {
    const id = idOf(deps, ctx);
    const wanted = ctx.request.body as ModelPutBody;
    const slot = slotToSwap(deps, id, wanted.binding ?? null);
    audit(deps, ctx, wanted.binding === undefined ? 'model.change' : 'model.bind', { model: id, ...wanted });
    const { binding, ...rest } = wanted;
    await registry.change(id, slot === null ? wanted : rest);
    if (slot !== null) await bindBySwap(id, slot, binding ?? null);
    ctx.body = shown(id);
  };
  const remove: Handler = async (ctx) => {
    const id = idOf(deps, ctx);
    const holders = holdersOf(deps, id);
    if (holders.length > 0) {
      throw new GatewayError('model.in_use', { details: { slots: holders.map(({ name }) => name) } });
    }
    const files = await registry.remove(id);
    audit(deps, ctx, 'model.remove', { model: id, files });
    ctx.body = { removed: id, files };
  };
  const register: Handler = async (ctx) => {
    const { path } = ctx.request.body as { path: string };
    const model = await registry.register(path).catch((error: Error) => {
      throw refused('path', error.message);
    });
    audit(deps, ctx, 'model.register', { model: model.id });
    ctx.body = shown(model.id);
  };
  const scan: Handler = async (ctx) => {
    await registry.scan();
    ctx.body = { models: registry.list().length, problems: problemsOf(deps, slotIndexOf(slots)) };
  };
  const updateCatalog: Handler = async (ctx) => {
    const update = ctx.request.body as CatalogUpdateBody;
    await catalog.update(update, disconnectSignal(ctx.res));
    const { sha256, url = null } = update;
    audit(deps, ctx, 'model.catalog', { as_of: catalog.asOf(), sha256, url });
    ctx.body = catalogView(deps);
  };
  const resetCatalog: Handler = (ctx) => {
    catalog.reset();
    audit(deps, ctx, 'model.catalog', { as_of: catalog.asOf(), reset: true });
    ctx.body = catalogView(deps);
  };
  return {
    models: list,
    'model.catalog': (ctx) => {
      ctx.body = catalogView(deps);
    },
    'model.names': (ctx) => {
      ctx.body = { names: deps.inference.names() };
    },
    'catalog.update': updateCatalog,
    'catalog.reset': resetCatalog,
    'model.put': put,
    'model.remove': remove,
    'model.register': register,
    'model.scan': scan,
  } satisfies Record<string, Handler>;
}

/** Slots that hold a model in memory, or are about to. */
const holdersOf = ({ slots }: Pick<RouteDeps, 'slots'>, id: string) =>
  slots.list().filter(({ model, state }) => model === id && !UNLOADED.includes(state));

/**
 * Formats that automatic slots can serve. Others need engines from slot files, or use no memory of the
 * gateway.
 */
const SELF_SERVED: ReadonlySet<string> = new Set(['gguf', 'onnx']);

const isSelfServed = (model: RegisteredModel): boolean =>
  SELF_SERVED.has(model.format) && unservedFormat(model) === null;

/** The models of the slots at one moment. */
interface SlotIndex {
  /** Ids of models that are in memory, or about to be. */
  readonly held: ReadonlySet<string | null>;
  /** Model id → its automatic slot. */
  readonly automatic: ReadonlyMap<string | null, string>;
  /** Ids of models that the engine of a slot can serve. */
  readonly serving: ReadonlySet<string | null>;
}

function slotIndexOf(slots: Pick<Slots, 'list'>): SlotIndex {
  const all = slots.list();
  return {
    held: new Set(all.filter(({ state }) => !UNLOADED.includes(state)).map(({ model }) => model)),
    serving: new Set(all.filter(({ engine }) => engine !== embedded.id).map(({ model }) => model)),
    automatic: new Map(all.filter(({ auto }) => auto).map(({ model, name }) => [model, name])),
  };
}

/**
 * Returns why no slot or upstream can serve a model because of its format. Null when one can, or when the format is not
 * the reason.
 */
const unservedBy = (model: RegisteredModel, serving: SlotIndex['serving']): Unusable | null =>
  serving.has(model.id) || model.binding?.startsWith('upstream:') === true ? null : unservedFormat(model);

/** Returns the files that cannot be used: those that are no models, and models that no engine here serves. */
function problemsOf({ registry }: RouteDeps, { serving }: SlotIndex): ModelProblemView[] {
  const models = registry.list().flatMap((model) => {
    const unserved = unservedBy(model, serving);
    return unserved === null ? [] : [{ file: basename(model.path), ...unserved }];
  });
  return [...registry.problems(), ...models];
}

/** Returns a model with its data on this machine, without a path. */
function modelWithMemory(
  model: RegisteredModel,
  slots: Pick<Slots, 'measured' | 'fit'>,
  { held, automatic, serving }: SlotIndex,
): ModelWithMemory {
  const own = automatic.get(model.id);
  return {
    ...modelView(model),
    binding: model.binding ?? (own === undefined ? null : `slot:${own}`),
    binding_chosen: model.binding !== null,
    memory: slots.measured(model.id),
    capabilities: { ...model.capabilities },
    parameters: model.parameters,
    thinking_chosen: model.thinkingChosen,
    unserved: unservedBy(model, serving),
    fit: held.has(model.id) || !isSelfServed(model) ? null : slots.fit(model),
  };
}

/** The catalogue with its fit on this machine. */
function catalogView({ registry, slots, catalog }: RouteDeps): CatalogView {
  const here = registry.views();
  const entries = catalog.entries().map((known) => {
    const type = typeOf(known);
    const installed = installedFrom(known, here);
    const file = installed === null ? undefined : registry.get(installed);
    const header = { ...estimateHeader(known), ...(file && { sizeBytes: file.sizeBytes }) };
    // The id of an installed model finds its measured speed.
    const model = { id: file?.id ?? known.model, path: null, type, demo: false, ...header };
    const { context, context_memory: _, card_bytes: __, experts: ___, ...facts } = known;
    return {
      ...facts,
      type,
      pullable: type !== 'image',
      objection: catalog.refusal(splitPullName(known.model).repo),
      context_length: context,
      fit: slots.fit(model),
      installed,
      quick_start: known.model === catalog.quickStart(),
    };
  });
  return { as_of: catalog.asOf(), updated: catalog.isUpdated(), entries };
}

const notFound = () => new GatewayError('model.not_found', { param: 'model' });

function idOf({ registry }: RouteDeps, { params }: RouteContext): string {
  const id = params.id ?? '';
  if (!registry.get(id)) throw notFound();
  return id;
}

/**
 * Returns the slot of a binding that must load the model first, or null. Throws when the slot or upstream
 * does not exist.
 */
function slotToSwap(deps: RouteDeps, id: string, binding: string | null): string | null {
  const [kind, name = ''] = binding?.split(':') ?? [];
  if (kind === 'upstream' && !deps.upstreams.config(name)) throw upstreamNotFound(name);
  if (kind !== 'slot') return null;
  const slot = deps.slots.get(name);
  if (!slot) throw slotNotFound(name);
  return slot.model === id ? null : name;
}

const refused = (path: string, reason: string) => invalidRequest([{ path, reason }]);
