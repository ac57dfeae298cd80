import { GatewayError } from '../../contract/errors.ts';
import { FALLBACK_ALLOWED } from '../../contract/headers.ts';
import type { ModelMap } from '../../settings/model-map.ts';
import { UpstreamNotCalled } from '../../upstreams/refusals.ts';
import { rewriteModelRef } from '../rewrite/deviations.ts';
import { FAILOVER_CODES } from '../rewrite/load-model.ts';
import { type Decision, refusal, resolveCached } from './dispatch.ts';
import { failoverCaseOf } from './failover.ts';
import { plainModelRef } from './model-ref.ts';
import { pathRow } from './paths.ts';
import type { DispatchRequest, Target } from './resolver.ts';
import type { RoutingView } from './routing-view.ts';

/**
 * Whether a caller has opted in to fallbacks (docs/spec/contract.md#fallbacks). The header decides for its request,
 * otherwise the setting.
 */
export function allowsFallback(header: string | string[] | undefined, isEnabled: boolean): boolean {
  if (header === undefined) return isEnabled;
  const value = Array.isArray(header) ? header.join(',') : header;
  return FALLBACK_ALLOWED.has(value.trim().toLowerCase());
}

/** Returns the models that may stand in for a model with these names; the first name with a list counts. */
export function fallbackModels(map: ModelMap, names: readonly (string | null)[]): readonly string[] {
  for (const name of names) if (name !== null && Object.hasOwn(map, name)) return map[name] ?? [];
  return [];
}

const isQueueFull = ({ code }: GatewayError): boolean => code === 'slot.queue_full';

/**
 * Whether another model may serve a request after this failure: the cases of a failover, an upstream that was not
 * called, and a slot that did not take the request. In all of them no byte of an answer came.
 */
export function permitsFallback(failure: unknown): failure is GatewayError {
  if (!(failure instanceof GatewayError)) return false;
  if (failure instanceof UpstreamNotCalled || failoverCaseOf(failure) !== null) return true;
  return FAILOVER_CODES.has(failure.code) || isQueueFull(failure);
}

/** A model that may stand in for the requested one. */
export interface FallbackCandidate {
  readonly model: string;
  /** Null when nothing serves it. */
  readonly decision: Decision | null;
  /** Why it cannot serve this route; null when it can. */
  readonly refused: GatewayError | null;
}

/**
 * Returns the candidates for a request in order: those of the own network before a provider with `local_first`
 * (docs/spec/contract.md#fallback-order). Only models that are known without reading lists count. Pure.
 */
export function fallbackCandidates(
  models: readonly string[],
  { path, type }: Pick<DispatchRequest, 'path' | 'type'>,
  view: RoutingView,
): FallbackCandidate[] {
  const candidates = models.map((model): FallbackCandidate => {
    const request = { path, type, modelRef: rewriteModelRef(plainModelRef(model), view, type) };
    const resolution = resolveCached(request, view);
    const { step, target, rule } = resolution;
    const refused = refusal(request, view, resolution);
    const decision = step === null || target === null ? null : { step, target, rule };
    return { model, decision, refused };
  });
  const guarded = candidates.filter(({ decision }) => isGuarded(decision, view));
  return [...candidates.filter((each) => !guarded.includes(each)), ...guarded];
}

function isGuarded(decision: Decision | null, { upstreams }: RoutingView): boolean {
  if (decision?.target.kind !== 'upstream') return false;
  const { upstream } = decision.target;
  return upstreams.find(({ name }) => name === upstream)?.isSpendGuarded === true;
}

const keyOf = (target: Target): string =>
  target.kind === 'slot' ? `slot ${target.slot}` : `upstream ${target.upstream} ${target.model}`;

/** The fallbacks of one request. Each model and each target is tried at most once, so that no request goes around. */
export class ModelFallbacks {
  readonly #map: ModelMap;
  readonly #names: readonly (string | null)[];
  #models: readonly string[] | null = null;
  readonly #taken = new Set<string>();
  readonly #tried = new Set<string>();

  /** `names`: those that the caller used. */
  constructor(map: ModelMap, names: readonly (string | null)[]) {
    this.#map = map;
    this.#names = names;
  }

  /** Records a target that the request goes to. The first one is that of the requested model. */
  record(target: Target): void {
    this.#models ??= fallbackModels(this.#map, [...this.#names, target.model]);
    this.#tried.add(keyOf(target));
  }

  /** Records that a model is tried, so that it is not tried again whatever its outcome. */
  take(model: string): void {
    this.#taken.add(model);
  }

  /** Returns the next model to try; null when there is none. `refusalOf`: why an upstream is not called now. */
  next(
    request: Pick<DispatchRequest, 'path' | 'type'>,
    view: RoutingView,
    refusalOf: (target: { upstream: string; model: string }) => GatewayError | null,
  ): string | null {
    if (this.#models === null || this.#models.length === 0) return null;
    const found = fallbackCandidates(this.#models, request, view).find(({ model, decision, refused }) => {
      if (this.#taken.has(model)) return false;
      if (decision === null || refused !== null || this.#tried.has(keyOf(decision.target))) return false;
      return decision.target.kind === 'slot' || refusalOf(decision.target) === null;
    });
    return found?.model ?? null;
  }
}

/** A request that may have fallbacks. */
interface FallbackRequest {
  readonly path: string;
  /** The names that the caller used for its model. */
  readonly names: readonly (string | null)[];
  /** The value of `x-svc-allow-fallback`. */
  readonly header: string | string[] | undefined;
}

/** Returns the fallbacks of a request; null when it has none, or when its route does not permit any. */
export function fallbacksOf(
  { path, names, header }: FallbackRequest,
  { map, isEnabled }: { map: ModelMap; isEnabled: boolean },
): ModelFallbacks | null {
  if (Object.keys(map).length === 0 || !pathRow(path).permitsFallback) return null;
  return allowsFallback(header, isEnabled) ? new ModelFallbacks(map, names) : null;
}
