import type { V1ModelRecord } from '../contract/models.ts';
import type { SlotTypeName } from '../contract/slots.ts';
import type { ImageModel } from '../models/images/curated.ts';
import type { SlotView } from '../slots/slot-view.ts';
import { isWanted } from '../upstreams/globs.ts';
import type { UpstreamModel } from '../upstreams/model-list.ts';
import type { UpstreamState } from '../upstreams/port.ts';
import { isHidden, LOCAL_OWNER, modelRecord } from './catalogue-record.ts';
import { aliasedSlot, LEGACY_ALIAS, VIRTUAL_CHAINS, VIRTUAL_PREFIX } from './dispatch/names.ts';
import { configuredName } from './dispatch/resolve-name.ts';
import { isNpu, modelNamed, type RoutingView, slotNamed } from './dispatch/routing-view.ts';
import { isForwarded, ownImageModel } from './images/own-model.ts';
import { NONE_REPORTED, type ReportedModels } from './images/resolve-model.ts';
import {
  aliasDescription,
  configuredDescription,
  slotDescription,
  upstreamDescription,
  virtualDescription,
} from './model-description.ts';
import { typeByName } from './model-type.ts';
import type { RegisteredModelLike } from './ports.ts';
import { laneOf } from './rewrite/virtual-name.ts';

export interface CatalogueQuery {
  /** Includes types other than text (image, tts, stt). */
  readonly showAll: boolean;
  /** Lists of owners. A record must be on each of them. An empty list means no filter. */
  readonly owners: readonly (readonly string[])[];
  /** Patterns of the ids to list (setting `models.listed`); an empty list means all. */
  readonly listed?: readonly string[];
  /** Whether this machine has an NPU; default true. */
  readonly hasNpu?: boolean;
}

interface Entry {
  readonly type: SlotTypeName;
  readonly record: V1ModelRecord;
  /** The slot that serves it, or that it is a name of. */
  readonly slot?: SlotView | undefined;
}

/**
 * Lists all names that a caller may use, from memory (docs/spec/contract.md#model-list): models, then slot
 * aliases, then virtual names, then models of upstreams, then what image slots can draw in addition to the
 * model that they name. This is the order in which dispatch searches. A duplicate id is listed once, local
 * first. An id that is also the name of a slot with another model is that slot's alias.
 */
function entries(view: RoutingView, reported: ReportedModels): Map<string, Entry> {
  const all = new Map<string, Entry>();
  const add = (entry: Entry) => {
    if (!all.has(entry.record.id)) all.set(entry.record.id, entry);
  };
  const unnamed = new Set(view.slots.filter((slot) => isUnnamedImage(slot, reported)));
  for (const slot of view.slots)
    if (slot.model !== null && !unnamed.has(slot) && !isAlias(slot.model, view))
      add(slotEntry(slot, slot.model, view));
  for (const model of view.models) {
    const entry = isAlias(model.id, view) ? null : modelEntry(model, view);
    if (entry) add(entry);
  }
  for (const name of [...view.slots.map((slot) => slot.name), LEGACY_ALIAS]) {
    const slot = aliasedSlot(name, view);
    if (slot && !unnamed.has(slot)) add(aliasEntry(slot, name, view));
  }
  for (const name of virtualNames(view)) {
    const slot = laneOf(name, view);
    if (slot && !unnamed.has(slot)) add(aliasEntry(slot, name, view, { virtual: true }));
  }
  for (const upstream of view.upstreams)
    for (const model of upstream.models) if (!all.has(model.id)) add(upstreamEntry(model, upstream));
  for (const slot of view.slots)
    for (const model of drawableModels(slot, reported)) add(drawableEntry(slot, model));
  for (const [name, entry] of configuredEntries(view, all)) all.set(name, entry);
  return all;
}

/** Returns the aliases and presets of config.toml that lead to a listed name (docs/spec/contract.md#configured-aliases). */
function configuredEntries(view: RoutingView, all: ReadonlyMap<string, Entry>): [string, Entry][] {
  return view.names.names().flatMap((name): [string, Entry][] => {
    const found = configuredName(name, view);
    const entry = found && all.get(found.target);
    if (!found || !entry) return [];
    const { record } = entry;
    const { active: _, queued: __, virtual: ___, ...state } = record._svc;
    const description = configuredDescription(found);
    const more = { is_alias: true, resolves_to: record._svc.resolves_to ?? record.id };
    const own = { id: name, name, description, meta: { ...record.meta, description } };
    return [[name, { ...entry, record: { ...record, ...own, _svc: { ...state, ...more } } }]];
  });
}

/** Returns whether a name refers to a slot whose model has another id. */
function isAlias(name: string, view: RoutingView): boolean {
  const slot = aliasedSlot(name, view);
  return slot !== undefined && slot.model !== name;
}

const NPU_SLOT = 'npu';
const NPU_NAME = `${VIRTUAL_PREFIX}${NPU_SLOT}`;

/** Returns the model of a slot's file and the models that its engine has reported. */
function drawableModels(slot: SlotView, reported: ReportedModels): readonly ImageModel[] {
  if (slot.type !== 'image') return [];
  const others = reported.of(slot.name);
  const own = ownImageModel(slot, others);
  return own === null ? others : [own, ...others];
}

function drawableEntry(slot: SlotView, { id, name }: ImageModel): Entry {
  const description = slotDescription(slot);
  const record = modelRecord({
    id,
    type: slot.type,
    owner: LOCAL_OWNER,
    slot,
    model: undefined,
    description,
  });
  return { type: slot.type, slot, record: { ...record, name } };
}

/** Returns whether a slot's model is only its name because its file names none. */
const isUnnamedImage = (slot: SlotView, reported: ReportedModels): boolean =>
  slot.type === 'image' &&
  slot.model === slot.name &&
  !isForwarded(slot) &&
  ownImageModel(slot, reported.of(slot.name)) === null;

function slotEntry(slot: SlotView, id: string, view: RoutingView): Entry {
  const { type } = slot;
  const model = modelNamed(view, id);
  const description = slotDescription(slot);
  return { type, slot, record: modelRecord({ id, type, owner: LOCAL_OWNER, slot, model, description }) };
}

/** A registered model is usable when its binding leads to an enabled slot or a known upstream. */
function modelEntry(model: RegisteredModelLike, view: RoutingView): Entry | null {
  const { id, type, binding } = model;
  if (binding?.startsWith('upstream:')) {
    const owner = binding.slice('upstream:'.length);
    const upstream = view.upstreams.find(({ name }) => name === owner);
    if (!upstream) return null;
    const state = stateOf(upstream);
    const description = upstreamDescription(upstream);
    return { type, record: modelRecord({ id, type, owner, slot: undefined, model, state, description }) };
  }
  const slot = slotNamed(view, binding?.replace(/^slot:/, '') ?? null);
  if (!slot) return null;
  const description = slotDescription(slot);
  return { type, slot, record: modelRecord({ id, type, owner: LOCAL_OWNER, slot, model, description }) };
}

function aliasEntry(slot: SlotView, id: string, view: RoutingView, extra: { virtual?: true } = {}): Entry {
  const model = slot.model === null ? undefined : modelNamed(view, slot.model);
  const resolves = slot.model === null ? {} : { resolves_to: slot.model };
  const more = { is_alias: true, ...extra, ...resolves };
  const description = extra.virtual ? virtualDescription(id, slot) : aliasDescription(slot);
  return {
    type: slot.type,
    slot,
    record: modelRecord({
      ...{ id, type: slot.type, owner: LOCAL_OWNER, slot, model },
      ...{ extra: more, description },
    }),
  };
}

const virtualNames = (view: RoutingView): string[] => [
  ...Object.keys(VIRTUAL_CHAINS),
  ...view.slots.map((slot) => `${VIRTUAL_PREFIX}${slot.name}`),
];

const stateOf = ({ isHealthy }: UpstreamState): string => (isHealthy ? 'ready' : 'offline');

/** A model counts as a chat model unless the list of the upstream or a known name says another type. */
function upstreamEntry(
  { id, type, context, created, vision, capabilities }: UpstreamModel,
  upstream: UpstreamState,
): Entry {
  const kind = type ?? typeByName(id) ?? 'llm';
  const parts = { id, type: kind, owner: upstream.name, slot: undefined, model: undefined };
  const description = upstreamDescription(upstream);
  return {
    type: kind,
    record: modelRecord({
      ...parts,
      ...{ state: stateOf(upstream), context, created, vision, capabilities, description },
    }),
  };
}

/**
 * Returns whether the device of a name is present (docs/spec/contract.md#models-listed). An attached engine may run on
 * another machine. Without an NPU slot, `svc/npu` is only another name for a chat slot.
 */
function isPresent({ record, slot }: Entry, view: RoutingView, hasNpu: boolean): boolean {
  const onAbsentNpu = (each: SlotView): boolean => isNpu(each) && each.runner !== 'attach' && !hasNpu;
  if (record.id === NPU_NAME && record._svc.virtual)
    return view.slots.some((each) => (isNpu(each) || each.name === NPU_SLOT) && !onAbsentNpu(each));
  return slot === undefined || !onAbsentNpu(slot);
}

/** Serves `GET /v1/models`. */
export function listModels(
  view: RoutingView,
  { showAll, owners, listed = [], hasNpu = true }: CatalogueQuery,
  reported: ReportedModels = NONE_REPORTED,
): V1ModelRecord[] {
  const lists = owners
    .map((names) => names.map((name) => name.trim().toLowerCase()).filter((name) => name !== ''))
    .filter((names) => names.length > 0);
  return [...entries(view, reported).values()]
    .filter(({ type }) => showAll || !isHidden(type))
    .filter((entry) => isPresent(entry, view, hasNpu))
    .filter(({ record }) => isWanted(record.id, listed, []))
    .map(({ record }) => record)
    .filter(({ owned_by }) => lists.every((names) => names.includes(owned_by.toLowerCase())));
}

/** Serves `GET /v1/models/{model_id}`: an exact lookup that ignores both filters. */
export function findModel(
  view: RoutingView,
  id: string,
  reported: ReportedModels = NONE_REPORTED,
): V1ModelRecord | undefined {
  return entries(view, reported).get(id)?.record;
}
