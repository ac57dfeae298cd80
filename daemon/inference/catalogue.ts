import type { V1ModelRecord } from '../contract/models.ts';
import type { SlotTypeName } from '../contract/slots.ts';
import type { SlotView } from '../slots/slot-view.ts';
import type { UpstreamModel } from '../upstreams/model-list.ts';
import type { UpstreamState } from '../upstreams/port.ts';
import { isHidden, LOCAL_OWNER, modelRecord } from './catalogue-record.ts';
import { aliasedSlot, LEGACY_ALIAS, VIRTUAL_CHAINS, VIRTUAL_PREFIX } from './dispatch/names.ts';
import { modelNamed, type Picture, slotNamed } from './dispatch/routing-view.ts';
import { CURATED, curatedModel } from './images/curated.ts';
import type { RegisteredModelLike } from './ports.ts';
import { laneOf } from './rewrite/virtual-name.ts';

export interface CatalogueQuery {
  /** Also what is not text (image, tts, stt). */
  readonly showAll: boolean;
  /** Lists of owners; a record has to be on each of them. An empty list means no filter. */
  readonly owners: readonly (readonly string[])[];
}

/** The ids of curated models that the engine of a slot has told it can draw; asks nobody. */
export type Draws = (slot: string) => readonly string[];
const NOTHING: Draws = () => [];

interface Entry {
  readonly type: SlotTypeName;
  readonly record: V1ModelRecord;
}

/**
 * Lists all names that a caller may use, from memory (docs/spec/contract.md#model-list): models, then slot
 * aliases, then virtual names, then models of upstreams, then what image slots can draw in addition to the
 * model that they name. This is the order in which dispatch searches. An id held twice is listed once, local
 * first. An id that is also the name of a slot with another model is that slot's alias.
 */
function entries(picture: Picture, draws: Draws): Map<string, Entry> {
  const all = new Map<string, Entry>();
  const add = (entry: Entry) => {
    if (!all.has(entry.record.id)) all.set(entry.record.id, entry);
  };
  for (const slot of picture.slots)
    if (slot.model !== null && !isAlias(slot.model, picture)) add(ofSlot(slot, slot.model, picture));
  for (const model of picture.models) {
    const entry = isAlias(model.id, picture) ? null : ofModel(model, picture);
    if (entry) add(entry);
  }
  for (const name of [...picture.slots.map((slot) => slot.name), LEGACY_ALIAS]) {
    const slot = aliasedSlot(name, picture);
    if (slot) add(aliasOf(slot, name, picture));
  }
  for (const name of virtualNames(picture)) {
    const slot = laneOf(name, picture);
    if (slot) add(aliasOf(slot, name, picture, { virtual: true }));
  }
  for (const upstream of picture.upstreams)
    for (const model of upstream.models) if (!all.has(model.id)) add(ofUpstream(model, upstream));
  for (const slot of picture.slots) for (const id of drawnBy(slot, draws)) add(ofDrawn(slot, id));
  return all;
}

/** Whether a name means a slot that holds another model than the one of this id. */
function isAlias(name: string, picture: Picture): boolean {
  const slot = aliasedSlot(name, picture);
  return slot !== undefined && slot.model !== name;
}

/** The slot that dispatch means by the path of image requests. */
const BY_PATH = 'img';

/** The curated id of what a slot names; for the one that every image request may reach, also what else its engine has. */
function drawnBy(slot: SlotView, draws: Draws): readonly string[] {
  if (slot.type !== 'image') return [];
  const own = curatedModel(slot.model ?? '')?.id;
  const others = slot.name === BY_PATH ? draws(slot.name) : [];
  return own === undefined ? others : [own, ...others];
}

function ofDrawn(slot: SlotView, id: string): Entry {
  const name = CURATED.find((model) => model.id === id)?.name;
  const record = modelRecord({ id, type: slot.type, owner: LOCAL_OWNER, slot, model: undefined });
  return { type: slot.type, record: name === undefined ? record : { ...record, name } };
}

function ofSlot(slot: SlotView, id: string, picture: Picture): Entry {
  const model = modelNamed(picture, id);
  return { type: slot.type, record: modelRecord({ id, type: slot.type, owner: LOCAL_OWNER, slot, model }) };
}

/** A registered model is usable when its binding leads to an enabled slot or a known upstream. */
function ofModel(model: RegisteredModelLike, picture: Picture): Entry | null {
  const { id, type, binding } = model;
  if (binding?.startsWith('upstream:')) {
    const owner = binding.slice('upstream:'.length);
    const upstream = picture.upstreams.find(({ name }) => name === owner);
    if (!upstream) return null;
    const state = stateOf(upstream);
    return { type, record: modelRecord({ id, type, owner, slot: undefined, model, state }) };
  }
  const slot = slotNamed(picture, binding?.replace(/^slot:/, '') ?? null);
  return slot ? { type, record: modelRecord({ id, type, owner: LOCAL_OWNER, slot, model }) } : null;
}

function aliasOf(slot: SlotView, id: string, picture: Picture, extra = {}): Entry {
  const model = slot.model === null ? undefined : modelNamed(picture, slot.model);
  const resolves = slot.model === null ? {} : { resolves_to: slot.model };
  const more = { is_alias: true, ...extra, ...resolves };
  return {
    type: slot.type,
    record: modelRecord({ id, type: slot.type, owner: LOCAL_OWNER, slot, model, extra: more }),
  };
}

const virtualNames = (picture: Picture): string[] => [
  ...Object.keys(VIRTUAL_CHAINS),
  ...picture.slots.map((slot) => `${VIRTUAL_PREFIX}${slot.name}`),
];

const stateOf = ({ isHealthy }: UpstreamState): string => (isHealthy ? 'ready' : 'offline');

/** A model counts as a chat model unless the upstream's own list says what else it is. */
function ofUpstream({ id, type, context, created, vision }: UpstreamModel, upstream: UpstreamState): Entry {
  const kind = type ?? 'llm';
  const parts = { id, type: kind, owner: upstream.name, slot: undefined, model: undefined };
  return {
    type: kind,
    record: modelRecord({ ...parts, state: stateOf(upstream), context, created, vision }),
  };
}

/** `GET /v1/models`. */
export function listModels(
  picture: Picture,
  { showAll, owners }: CatalogueQuery,
  draws: Draws = NOTHING,
): V1ModelRecord[] {
  const lists = owners
    .map((names) => names.map((name) => name.trim().toLowerCase()).filter((name) => name !== ''))
    .filter((names) => names.length > 0);
  return [...entries(picture, draws).values()]
    .filter(({ type }) => showAll || !isHidden(type))
    .map(({ record }) => record)
    .filter(({ owned_by }) => lists.every((names) => names.includes(owned_by.toLowerCase())));
}

/** `GET /v1/models/{model_id}`: an exact lookup that ignores both filters. */
export function findModel(picture: Picture, id: string, draws: Draws = NOTHING): V1ModelRecord | undefined {
  return entries(picture, draws).get(id)?.record;
}
