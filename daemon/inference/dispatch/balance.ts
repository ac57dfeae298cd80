import type { UpstreamModel } from '../../upstreams/model-list.ts';
import type { UpstreamState } from '../../upstreams/port.ts';

/**
 * What decided between several upstreams of the same rank. `loaded`: only it has the model loaded. `prefix`: it
 * served the beginning of this conversation last. `active`: it has the fewest active requests for its weight.
 * `turn`: it has as few as others, and it is its turn.
 */
export type BalanceRule = 'loaded' | 'prefix' | 'active' | 'turn';

/** Where the beginning of a conversation was served last. */
export interface PrefixAffinity {
  /** Returns the name of that upstream; null when it is unknown. Called only for several upstreams of one rank. */
  owner(model: string): string | null;
  /** How many more active requests for its weight that upstream may have than the least busy one. */
  readonly maxExtra: number;
}

export interface Balanced {
  readonly upstream: UpstreamState;
  /** Null when no other upstream has the same rank. */
  readonly rule: BalanceRule | null;
}

/** Returns an upstream's own record of a model; undefined when it does not list it. */
export const listedModel = ({ models }: UpstreamState, model: string): UpstreamModel | undefined =>
  models.find(({ id }) => id === model);

/** Whether its model would have to be loaded first, as far as the upstream reports it. */
export const wouldLoad = (upstream: UpstreamState, model: string): boolean =>
  upstream.isListRecent && listedModel(upstream, model)?.loaded === false;

/** Returns the active requests of an upstream for its weight, those of other callers included as far as reported. */
export function loadOf(upstream: UpstreamState, model: string): number {
  const others = upstream.isListRecent ? (listedModel(upstream, model)?.othersActive ?? 0) : 0;
  return (upstream.active + others) / upstream.weight;
}

/**
 * Chooses between upstreams that list `model` (docs/spec/contract.md#upstream-choice). Compares health, spend guard
 * and priority first; the rules of `BalanceRule` decide between equals. Returns null for an empty list. Pure.
 */
export function balance(
  upstreams: readonly UpstreamState[],
  model: string,
  affinity?: PrefixAffinity,
): Balanced | null {
  const equal = firstRank(upstreams, model);
  const [only] = equal;
  if (only === undefined) return null;
  if (equal.length === 1) return { upstream: only, rule: null };
  const loaded = equal.filter((each) => !wouldLoad(each, model));
  const [first] = loaded;
  if (first !== undefined && loaded.length === 1) return { upstream: first, rule: 'loaded' };
  return amongLoaded(loaded.length === 0 ? equal : loaded, model, affinity);
}

function amongLoaded(
  equal: readonly UpstreamState[],
  model: string,
  affinity: PrefixAffinity | undefined,
): Balanced | null {
  const least = Math.min(...equal.map((each) => loadOf(each, model)));
  const name = affinity?.owner(model) ?? null;
  const owner = name === null ? undefined : equal.find((each) => each.name === name);
  if (owner !== undefined && loadOf(owner, model) <= least + (affinity?.maxExtra ?? 0))
    return { upstream: owner, rule: 'prefix' };
  const idle = equal.filter((each) => loadOf(each, model) === least);
  const [upstream] = idle.sort((a, b) => a.turn - b.turn || (a.name < b.name ? -1 : 1));
  return upstream === undefined ? null : { upstream, rule: idle.length === 1 ? 'active' : 'turn' };
}

/** Returns the upstreams that no other one precedes: healthy, not busy, then the own network, then the smaller priority. */
export function firstRank(upstreams: readonly UpstreamState[], model: string): UpstreamState[] {
  let best: UpstreamState[] = [];
  for (const upstream of upstreams) {
    const [first] = best;
    const order = first === undefined ? 0 : byRank(upstream, first, model);
    if (order < 0) best = [upstream];
    else if (order === 0) best.push(upstream);
  }
  return best;
}

const byRank = (a: UpstreamState, b: UpstreamState, model: string): number =>
  Number(isUsable(b, model)) - Number(isUsable(a, model)) ||
  Number(a.isBusy) - Number(b.isBusy) ||
  Number(a.isSpendGuarded) - Number(b.isSpendGuarded) ||
  a.priority - b.priority;

/** Whether it is healthy and the last call for this model did not fail. */
export const isUsable = ({ isHealthy, failingModels }: UpstreamState, model: string): boolean =>
  isHealthy && !failingModels.has(model);
