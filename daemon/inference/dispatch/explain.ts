import { GatewayError } from '../../contract/errors.ts';
import type { ExplainView } from '../../contract/system.ts';
import type { ImageModel } from '../../models/images/curated.ts';
import type { ModelMap } from '../../settings/model-map.ts';
import type { Preview } from '../../slots/admission/preview.ts';
import { queueLimitOf } from '../../slots/lifecycle/queue-limit.ts';
import { queueFullError } from '../../slots/refusals.ts';
import type { SlotView } from '../../slots/slot-view.ts';
import type { CallTarget } from '../../upstreams/port.ts';
import { modelMismatch } from '../images/model-mismatch.ts';
import { NONE_REPORTED, type ReportedModels, resolveImageModel } from '../images/resolve-model.ts';
import { assertModelLength, invalid, scanBody } from '../rewrite/body-index.ts';
import { rewriteModelRef } from '../rewrite/deviations.ts';
import { FAILOVER_CODES } from '../rewrite/load-model.ts';
import { firstRank, listedModel, loadOf, type PrefixAffinity } from './balance.ts';
import type { ConfiguredName } from './configured-names.ts';
import { type ConversationPrefix, conversationPrefix } from './conversation-prefix.ts';
import { type Decision, type Resolution, refusal, resolve, withListsRead } from './dispatch.ts';
import { errorView, explainFallback } from './explain-fallback.ts';
import { failoverPlan } from './failover-targets.ts';
import { modelOmitted } from './model-omitted.ts';
import { plainModelRef } from './model-ref.ts';
import { isDispatched, pathRow } from './paths.ts';
import { configuredName } from './resolve-name.ts';
import type { DispatchRequest, Target } from './resolver.ts';
import { isLoaded, type RoutingView, slotNamed } from './routing-view.ts';
import { allSteps, triedSteps } from './trace-view.ts';

export interface ExplainInput {
  readonly path: string;
  readonly model?: string;
  readonly body?: Record<string, unknown>;
  /** As the header of the request; undefined for one without. */
  readonly allow_fallback?: boolean | undefined;
}

/** Returns the upstreams of the same rank and what decided between them; null without others. */
function balanceView({ target, rule }: Decision, view: RoutingView): ExplainView['balance'] {
  if (target.kind !== 'upstream' || !rule) return null;
  const { model } = target;
  const listing = view.upstreams.filter((each) => listedModel(each, model) !== undefined);
  const upstreams = firstRank(listing, model).map((each) => ({
    name: each.name,
    active: loadOf(each, model) * each.weight,
    weight: each.weight,
    loaded: (each.isListRecent ? listedModel(each, model)?.loaded : undefined) ?? null,
  }));
  return { rule, upstreams };
}

/** Returns what a request for a slot would lead to now. */
export type PreviewSlot = (slot: string) => Preview;

/** Information about slots and upstreams in addition to the routing view. */
export interface ExplainDeps {
  readonly previewSlot: PreviewSlot;
  /** Default: no engine has reported models. */
  readonly reportedModels?: ReportedModels;
  /** Maximum number of requests that wait for one slot. */
  readonly queueMax: number;
  /** Returns the error with which an upstream would refuse a call now; null when it accepts one. */
  refusalOf(upstream: string, target: CallTarget): GatewayError | null;
  /** The models of `[fallbacks]`, and whether they are used for every caller. */
  readonly fallbacks: { readonly map: ModelMap; readonly isEnabled: boolean };
  /** Returns whether a slot predicts tokens and saves its conversations; default: nothing is known. */
  chatOf?(slot: string): Pick<ExplainView, 'speculation' | 'conversations'>;
  /** Returns where a conversation was served last, given its beginning for a model. */
  affinityOf?(prefixFor: (model: string) => ConversationPrefix | null): PrefixAffinity;
}

/**
 * Replays the decision of `POST /api/dispatch/explain` on one routing view: nothing is sent, loaded or
 * fetched. Throws 422 `request.invalid` for a path without dispatch.
 */
export function explain(input: ExplainInput, view: RoutingView, deps: ExplainDeps): ExplainView {
  if (!isDispatched(input.path))
    throw invalid('path', 'must be an inference route such as /v1/chat/completions');
  const requested = namedModel(input);
  const base = { path: input.path, model: requested, alias: null };
  const configured = requested === null ? null : configuredName(requested, view);
  try {
    const { model, curated } = resolveRequested(input.path, requested, { view, deps });
    const modelRef = modelOmitted(plainModelRef(model), input.path, view);
    const { type } = pathRow(input.path);
    const dispatchRequest = {
      path: input.path,
      type,
      modelRef: rewriteModelRef(modelRef, view, type),
      affinity: affinityOf(input, deps),
    };
    const alias = aliasView(dispatchRequest.modelRef.alias ?? configured);
    const context = { curated, view, deps, allowFallback: input.allow_fallback };
    return { ...base, alias, ...explainDecision(dispatchRequest, context) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { ...base, ...NO_TARGET, lane: null, steps: [], error: errorView(error) };
  }
}

const NO_CHAT = { speculation: null, conversations: null };

const NO_TARGET = {
  slot: null,
  upstream: null,
  would_load: false,
  chat_template: null,
  queue_position: 0,
  ...NO_CHAT,
  abandoned: 0,
  load: null,
  balance: null,
  after: [],
  skipped: [],
  failover: [],
  fallback: null,
  beyond: null,
};

/** When the next target is tried. After every other failure the caller gets it. */
const FAILOVERS = {
  slot: ['no_memory', 'slot_failed'],
  upstream: ['connection_failed', 'busy', 'not_responding'],
} as const;

/** Returns the affinity of a request whose body is known. Clients send the compact form of JSON. */
function affinityOf({ body }: ExplainInput, deps: ExplainDeps): PrefixAffinity | undefined {
  if (!Array.isArray(body?.messages)) return undefined;
  const index = scanBody(Buffer.from(JSON.stringify(body)));
  return deps.affinityOf?.((model) => conversationPrefix(index, model));
}

function namedModel({ model, body }: ExplainInput): string | null {
  const targetFields = model ?? body?.model;
  return typeof targetFields === 'string' && targetFields.trim() !== '' ? targetFields : null;
}

/** The name to dispatch, and for images the curated model. */
interface RequestedModel {
  readonly model: string | null;
  readonly curated: ImageModel | null;
}

/** Images require a curated model, and names have a maximum length. Throws like the real call. */
function resolveRequested(
  path: string,
  requested: string | null,
  { view, deps }: Pick<ExplainContext, 'view' | 'deps'>,
): RequestedModel {
  if (requested !== null) assertModelLength(Buffer.byteLength(requested));
  if (pathRow(path).type !== 'image') return { model: requested, curated: null };
  if (requested === null) throw invalid('model', 'is required');
  const { model, image } = resolveImageModel(requested, view, deps.reportedModels ?? NONE_REPORTED);
  return { model, curated: image };
}

type Explained = Omit<ExplainView, 'path' | 'model' | 'alias'>;

const aliasView = (found: ConfiguredName | null): ExplainView['alias'] =>
  found && { kind: found.kind, name: found.name, target: found.target };

/** The input of an explanation. */
interface ExplainContext {
  readonly curated: ImageModel | null;
  readonly view: RoutingView;
  readonly deps: ExplainDeps;
  readonly allowFallback: boolean | undefined;
}

function explainDecision(request: DispatchRequest, context: ExplainContext): Explained {
  const { view } = context;
  const first = resolve(request, view);
  const resolution = first.fetch ? withoutFetch(first, resolve(request, withListsRead(view))) : first;
  const refused = refusal(request, view, resolution);
  const base = { steps: allSteps(triedSteps(resolution.trace)), lane: request.modelRef.lane };
  const { step, target, rule } = resolution;
  if (refused || target === null || step === null)
    return {
      ...NO_TARGET,
      ...base,
      ...named(target, view, context.deps),
      error: refused && errorView(refused),
    };
  return { ...base, ...explainTarget(request, { step, target, rule }, context) };
}

/** Explains the chosen target and those after it. Refused only if all of them would refuse. */
function explainTarget(request: DispatchRequest, decision: Decision, context: ExplainContext) {
  const { target } = decision;
  const { view, deps } = context;
  const first = previewOf(decision, context);
  const plan = failoverPlan(
    request.modelRef,
    decision,
    view,
    (name, model) => deps.refusalOf(name, { model })?.message ?? null,
  );
  const next = plan.after.map((each) => ({
    ...each,
    ...(each.slot === null ? ofUpstream(each.upstream, decision, context) : slotPreview(each.slot, context)),
  }));
  const refused = finalRefusal([first, ...next]);
  const fallback = explainFallback(
    { request, id: target.model, refused, view, allow: context.allowFallback, ...deps.fallbacks },
    (other) => previewOf(other, { ...context, curated: null }),
  );
  const last = fallback?.used == null ? refused : null;
  return {
    ...named(target, view, deps),
    balance: balanceView(decision, view),
    failover: next.length === 0 ? [] : [...FAILOVERS[target.kind]],
    ...(first.refusal?.code === 'slot.queue_full' && { queue_position: 0 }),
    load: first.load,
    ...(first.sharesEngineOf && { shares_engine_of: first.sharesEngineOf }),
    after: next.map(({ slot, upstream, load, refusal }) => ({
      slot,
      upstream,
      load,
      error: refusal && errorView(refusal),
    })),
    skipped: [...plan.skipped],
    fallback,
    beyond: null,
    error: last && errorView(last),
  };
}

/** Returns what a request for the target of a decision would lead to now. */
const previewOf = (decision: Decision, context: ExplainContext): Preview =>
  decision.target.kind === 'slot'
    ? slotPreview(decision.target.slot, context)
    : ofUpstream(decision.target.upstream, decision, context);

function ofUpstream(name: string, { target, step }: Decision, { deps }: ExplainContext): Preview {
  const called = { model: target.model ?? undefined, isBound: step === 'registry' };
  return { load: null, refusal: deps.refusalOf(name, called) };
}

/** Returns what a request for a slot would lead to, including a full queue. */
function slotPreview(
  name: string,
  { curated: drawn, view, deps: { previewSlot, queueMax } }: ExplainContext,
): Preview {
  const slot = slotNamed(view, name);
  const other = drawn === null || slot === undefined ? null : modelMismatch(drawn, slot);
  if (other !== null) return { load: null, refusal: other };
  const known = previewSlot(name);
  if (known.refusal !== null || slot === undefined) return known;
  const { requests, remedy } = queueLimitOf(name, slot.type, queueMax);
  const position = queuePosition(slot);
  if (position === 0 || slot.queued < requests) return known;
  return {
    load: null,
    refusal: queueFullError({ slot: name, position, queued: slot.queued, expectedS: null, remedy }),
  };
}

/**
 * Returns the error for the caller; null when a target would serve it. Only some errors lead to the next
 * target.
 */
function finalRefusal(tried: readonly Preview[]): GatewayError | null {
  const end =
    tried.find(({ refusal }) => refusal === null || !FAILOVER_CODES.has(refusal.code)) ?? tried.at(-1);
  return end?.refusal ?? null;
}

function named(target: Target | null, view: RoutingView, deps: ExplainDeps) {
  const slot = target?.kind === 'slot' ? slotNamed(view, target.slot) : undefined;
  return {
    slot: slot?.name ?? null,
    upstream: target?.kind === 'upstream' ? target.upstream : null,
    would_load: slot !== undefined && !isLoaded(slot),
    chat_template: view.models.find(({ id }) => id === slot?.model)?.chat_template ?? null,
    queue_position: slot === undefined ? 0 : queuePosition(slot),
    ...((slot && deps.chatOf?.(slot.name)) ?? NO_CHAT),
    abandoned: slot?.abandoned ?? 0,
  };
}

/** Returns the queue position of a new request, starting at 1; 0 when it would be served immediately. */
const queuePosition = (slot: SlotView): number =>
  slot.queued > 0 || slot.active >= slot.parallel || !isLoaded(slot) ? slot.queued + 1 : 0;

/** Shows a step that would fetch as passed, and continues without it. */
function withoutFetch(first: Resolution, rest: Resolution): Resolution {
  const known = first.trace.slice(0, -1);
  const fetching = first.trace.at(-1);
  const skipped = fetching
    ? [{ step: fetching.step, outcome: { is: 'pass', reason: fetching.outcome.reason } as const }]
    : [];
  return { ...rest, trace: [...known, ...skipped, ...rest.trace.slice(known.length + 1)] };
}
