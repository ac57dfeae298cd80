import type { SlotView } from '../../slots/slot-view.ts';
import type { UpstreamState } from '../../upstreams/port.ts';
import type { RegisteredModelLike, RegistryLike, Upstreams } from '../ports.ts';
import type { ConfiguredNames } from './configured-names.ts';

/**
 * The slots, models and upstreams that one routing decision sees. Not a snapshot: lists are read at first
 * use, and slot states are live.
 */
export interface RoutingView {
  /** Enabled slots only, in the order of the slot files. */
  readonly slots: readonly SlotView[];
  /** Slots that serve nothing because their files say so. Only errors name them. */
  readonly disabledSlots: readonly SlotView[];
  readonly models: readonly RegisteredModelLike[];
  readonly upstreams: readonly UpstreamState[];
  /** Suffix of model ids for the NPU backend, without its hyphen. */
  readonly npuSuffix: string;
  /** The aliases and presets of config.toml. */
  readonly names: ConfiguredNames;
  /** Cold model lists have been fetched for this request. */
  readonly coldListsFetched: boolean;
}

export interface RoutingSources {
  slots: { views(): readonly SlotView[] };
  registry: RegistryLike;
  upstreams: Upstreams;
  npuSuffix(): string;
  names(): ConfiguredNames;
}

const isEnabled = (slot: SlotView): boolean => slot.enabled;

/** Reads models and upstreams at their first use: most decisions need neither. */
class LiveRoutingView implements RoutingView {
  readonly slots: readonly SlotView[];
  readonly coldListsFetched: boolean;
  readonly #sources: RoutingSources;
  readonly #allSlots: readonly SlotView[];
  #models: readonly RegisteredModelLike[] | undefined;
  #upstreams: readonly UpstreamState[] | undefined;

  constructor(sources: RoutingSources, coldListsFetched: boolean) {
    const all = sources.slots.views();
    this.slots = all.every(isEnabled) ? all : all.filter(isEnabled);
    this.#allSlots = all;
    this.coldListsFetched = coldListsFetched;
    this.#sources = sources;
  }

  get disabledSlots(): readonly SlotView[] {
    return this.#allSlots.filter((slot) => !slot.enabled);
  }

  get models(): readonly RegisteredModelLike[] {
    this.#models ??= this.#sources.registry.list();
    return this.#models;
  }

  get upstreams(): readonly UpstreamState[] {
    this.#upstreams ??= this.#sources.upstreams.list();
    return this.#upstreams;
  }

  get npuSuffix(): string {
    return this.#sources.npuSuffix();
  }

  get names(): ConfiguredNames {
    return this.#sources.names();
  }
}

/** Creates a routing view of the current state. */
export function createRoutingView(sources: RoutingSources, coldListsFetched = false): RoutingView {
  return new LiveRoutingView(sources, coldListsFetched);
}

export const slotNamed = (view: RoutingView, name: string | null): SlotView | undefined =>
  name === null ? undefined : view.slots.find((slot) => slot.name === name);

export const isLoaded = (slot: SlotView): boolean => slot.state === 'ready' || slot.state === 'serving';

export const modelNamed = (view: RoutingView, id: string): RegisteredModelLike | undefined =>
  view.models.find((model) => model.id === id);

/** Returns whether a slot runs on the NPU backend. */
export const isNpu = (slot: SlotView): boolean =>
  slot.engine === 'flm' || (slot.device?.startsWith('npu') ?? false);

/** Returns other enabled slots with the same model id that are not in ERROR, loaded ones first. */
export function healthySiblings(view: RoutingView, slot: SlotView): SlotView[] {
  return view.slots
    .filter((other) => other.name !== slot.name && other.model === slot.model && other.model !== null)
    .filter((other) => other.state !== 'error')
    .sort((a, b) => Number(isLoaded(b)) - Number(isLoaded(a)));
}
