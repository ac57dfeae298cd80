import type { GatewayError } from '../contract/errors.ts';
import { engineOf } from '../slots/engines/table.ts';
import type { Lease } from '../slots/lifecycle/lease.ts';
import type { CallEnd } from '../upstreams/call-meaning.ts';
import type { CallContext, CallDeps, Connection, ParsedRequest } from './call-context.ts';
import type { BalanceRule } from './dispatch/balance.ts';
import type { Decision } from './dispatch/dispatch.ts';
import type { DispatchRequest } from './dispatch/resolver.ts';
import { awaitLease } from './forward/await-lease.ts';
import { encodeName, headerText } from './forward/headers.ts';
import { NO_WAIT, type WaitTimes, waitTimesOf } from './forward/wait-times.ts';
import type { MediaSupport } from './rewrite/body-rule.ts';
import { loadModel } from './rewrite/load-model.ts';
import { slotView } from './slot-view.ts';
import { slotMedia } from './supports-vision.ts';

/**
 * Makes the chosen target ready. Loads and leases a slot; only looks up an upstream. Synchronous when nothing
 * has to be waited for.
 */
export function connect(
  ctx: CallContext,
  parsed: ParsedRequest,
  request: DispatchRequest,
  decision: Decision,
): Connection | Promise<Connection> {
  const { target, step, rule } = decision;
  setResponseHeader(ctx, 'x-svc-step', step);
  const { alias } = request.modelRef;
  if (alias) setResponseHeader(ctx, 'x-svc-alias', headerText(alias.name));
  if (target.kind === 'slot')
    return connectSlot(ctx, parsed, request, { slot: target.slot, model: target.model, step });
  return connectUpstream(ctx, { upstream: target.upstream, model: target.model, step, rule: rule ?? null });
}

/**
 * Sets a response header, or removes (null) the one of an earlier choice. Has no effect after the head is
 * sent.
 */
export function setResponseHeader({ call, response }: CallContext, name: string, value: string | null): void {
  if (response.headSent) return;
  if (value === null) call.res.removeHeader(name);
  else call.res.setHeader(name, value);
}

interface SlotChoice {
  readonly slot: string;
  readonly model: string | null;
  readonly step: string;
}

function connectSlot(
  ctx: CallContext,
  parsed: ParsedRequest,
  request: DispatchRequest,
  choice: SlotChoice,
): Connection | Promise<Connection> {
  const { slot, model } = choice;
  const byId = request.modelRef.by === null && model === request.modelRef.model;
  const modelId = byId ? model : null;
  routeToSlot(ctx, slot, choice, model);
  const now = ctx.scope.endReason ? null : ctx.deps.slots.leaseNow(slot, { modelId });
  if (now === null) return awaitSlot(ctx, parsed, request, choice, modelId);
  ctx.tracked.leased();
  return leaseConnection(ctx.deps, now, NO_WAIT);
}

/** Routes the request to this slot, as far as known before the lease. */
function routeToSlot(ctx: CallContext, slot: string, { step }: SlotChoice, model: string | null): void {
  ctx.tracked.routed({ slot, upstream: null, step, model });
  setResponseHeader(ctx, 'x-svc-slot', slot);
  if (model !== null) setResponseHeader(ctx, 'x-svc-model', encodeName(model));
}

async function awaitSlot(
  ctx: CallContext,
  parsed: ParsedRequest,
  request: DispatchRequest,
  choice: SlotChoice,
  modelId: string | null,
): Promise<Connection> {
  const { deps, call, scope, response, tracked } = ctx;
  const { slot } = choice;
  const { chain, lane } = request.modelRef;
  const priority = call.req.headers['x-svc-priority'] === 'batch' ? 'batch' : 'interactive';
  const stream = (call.waitsAsStream ?? parsed.stream) && canStream(deps, slot);
  const reports = stream && parsed.stream;
  let model = choice.model;
  const ready = (name: string) => {
    if (name !== slot) {
      model = slotView(deps.slots, name)?.model ?? null;
      routeToSlot(ctx, name, choice, model);
    }
    const bytes = call.body.length;
    return awaitLease(name, {
      slots: deps.slots,
      scope,
      response,
      stream,
      reports,
      priority,
      bytes,
      modelId,
    });
  };
  const requestedAt = Date.now();
  const onFailover = ({ code }: GatewayError) => tracked.failedOver(code);
  const lease = await loadModel(slot, slot === lane ? chain : [], ready, onFailover);
  // A caller who named the slot is served by the model that the slot received while the caller waited.
  if (lease.model !== model) routeToSlot(ctx, lease.slot, choice, lease.model);
  tracked.leased();
  return leaseConnection(deps, lease, waitTimesOf(requestedAt, Date.now(), lease));
}

/** An engine without streams needs its own response head, not the head of a stream that has started. */
const canStream = ({ slots }: CallDeps, slot: string): boolean =>
  engineOf(slotView(slots, slot)?.engine ?? '')?.streams !== false;

/** The gateway's own engines receive no reports about calls. */
const NOOP = (): void => {};

function leaseConnection(
  { slots, registry, imageSupport }: CallDeps,
  lease: Lease,
  waits: WaitTimes,
): Connection {
  const ofModel = () =>
    registry.get ? registry.get(lease.model) : registry.list().find(({ id }) => id === lease.model);
  const withRefusals = (media: MediaSupport, origin: string, name: string | null): MediaSupport =>
    media === 'unknown' && imageSupport.isRefused(origin, name) ? 'text' : media;
  return {
    origin: lease.origin,
    base: '/v1',
    headers: lease.headers,
    model: lease.model,
    engineModel: lease.dialect.model,
    local: true,
    thinkingDefault: () => slots.config(lease.slot)?.enableThinking ?? ofModel()?.enable_thinking ?? null,
    media: () =>
      withRefusals(slotMedia(ofModel(), slotView(slots, lease.slot)), lease.origin, lease.dialect.model),
    takesLaterSystem: lease.dialect.laterSystem ?? false,
    continuesOnRequest: lease.dialect.continuesOnRequest ?? false,
    degraded: lease.degraded,
    waitTimes: waits,
    nativeRerank: lease.dialect.nativeRerank,
    rawRerank: lease.dialect.rawRerank ?? false,
    rerankApi: 'common',
    hasScore: engineOf(slotView(slots, lease.slot)?.engine ?? '')?.hasScore ?? false,
    countPath: lease.dialect.countPath,
    isUpstream: false,
    isWorker: () => slotView(slots, lease.slot)?.runner === 'worker',
    upstream: null,
    slot: lease.slot,
    streamUsage: lease.dialect.streamUsage ?? false,
    sendsAppName: false,
    connectMs: null,
    idleMs: null,
    onBegin: NOOP,
    onData: NOOP,
    onDown: NOOP,
    onEnd: (end) => {
      if (end !== null && 'failed' in end)
        void slots.diagnose(lease.slot, { since: Date.now(), isAnswered: false });
    },
    reportSpeed: (tokensPerSecond) => slots.recordUsage(lease.slot, { tokensPerSecond }),
    release: () => lease.release(),
    releaseAfter: (idle) => lease.releaseAfter(idle),
  };
}

/** Returns `text` when the list of the upstream names the inputs of the model and images are not among them. */
function upstreamMedia({ upstreams }: CallDeps, upstream: string, model: string): MediaSupport {
  const listed = upstreams.list().find(({ name }) => name === upstream);
  const found = listed?.models.find(({ id }) => id === model);
  return found?.textOnly ? 'text' : 'unknown';
}

interface UpstreamChoice {
  readonly upstream: string;
  readonly model: string;
  readonly step: string;
  readonly rule: BalanceRule | null;
}

/** Throws the error with which the upstream refuses a call. */
function connectUpstream(ctx: CallContext, choice: UpstreamChoice): Connection {
  const { deps, call, task, tracked } = ctx;
  const { upstream, model, step, rule } = choice;
  tracked.routed({ slot: null, upstream, step, model });
  setResponseHeader(ctx, 'x-svc-slot', null);
  setResponseHeader(ctx, 'x-svc-upstream', headerText(upstream));
  setResponseHeader(ctx, 'x-svc-balance', rule);
  const hops = hopsOf(call.req.headers['x-svc-hops']);
  const isBound = step === 'registry';
  const route = deps.upstreams.connect(upstream, { hops, isTokenCount: task.counts, model, isBound });
  const {
    origin,
    base,
    headers,
    remote,
    nativeRerank,
    rawRerank,
    rerankApi,
    hasScore,
    countPath,
    connectMs,
    idleMs,
    streamUsage,
    sendsAppName,
    continuesOnRequest,
  } = route;
  let over = false;
  const ended = (end: CallEnd) => {
    if (!over) route.onEnd(end);
    over = true;
  };
  return {
    origin,
    base,
    headers,
    model,
    engineModel: model,
    local: !remote,
    isUpstream: true,
    isWorker: () => false,
    upstream,
    slot: null,
    streamUsage,
    sendsAppName,
    thinkingDefault: () => deps.registry.get?.(model)?.enable_thinking ?? null,
    media: () => (deps.imageSupport.isRefused(origin, model) ? 'text' : upstreamMedia(deps, upstream, model)),
    takesLaterSystem: false,
    continuesOnRequest,
    degraded: null,
    waitTimes: null,
    nativeRerank,
    rawRerank,
    rerankApi,
    hasScore,
    countPath,
    connectMs,
    idleMs,
    reportSpeed: () => {},
    onBegin: (status) => route.onResponse(status),
    onData: route.onData,
    onDown: route.onDown,
    onEnd: ended,
    release: () => ended(null),
    releaseAfter: NOOP,
  };
}

/** Joins several headers, so that none hides another. */
const hopsOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;
