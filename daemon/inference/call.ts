import { GatewayError } from '../contract/errors.ts';
import { ALLOW_FALLBACK_HEADER, FALLBACK_HEADER } from '../contract/headers.ts';
import { ROUTES, type RouteId } from '../contract/routes.ts';
import { RedispatchError } from '../slots/refusals.ts';
import { Capture } from '../telemetry/captures.ts';
import type { RequestStart, RequestTracker, TrackedRequest } from '../telemetry/request-tracker.ts';
import type { CallContext, CallDeps, InferenceCall, ParsedRequest, TaskRow } from './call-context.ts';
import { connect, setResponseHeader } from './connect.ts';
import { exchangeWithEngine, serveTask } from './deliver.ts';
import { ConversationAffinity } from './dispatch/conversation-prefix.ts';
import { type Decision, dispatch } from './dispatch/dispatch.ts';
import { failoverCaseOf, otherUpstream } from './dispatch/failover.ts';
import { fallbacksOf, type ModelFallbacks, permitsFallback } from './dispatch/model-fallbacks.ts';
import { modelOmitted } from './dispatch/model-omitted.ts';
import { plainModelRef } from './dispatch/model-ref.ts';
import { pathRow } from './dispatch/paths.ts';
import type { DispatchRequest } from './dispatch/resolver.ts';
import { createRoutingView, type RoutingView } from './dispatch/routing-view.ts';
import { resolutionInfo } from './dispatch/trace-view.ts';
import { callEnd } from './forward/call-end.ts';
import { CallScope, CLIENT_CLOSED, ClientDisconnected } from './forward/call-scope.ts';
import { failureText } from './forward/failure-text.ts';
import { headerText } from './forward/headers.ts';
import { explainFailure, isTargetFailure, nameTarget } from './forward/name-target.ts';
import { RefusedOption } from './forward/option-support.ts';
import { ResponseWriter } from './forward/response-writer.ts';
import { OverheadTimer } from './overhead-timer.ts';
import { rewriteModelRef } from './rewrite/deviations.ts';
import { applyPreset } from './rewrite/preset.ts';

/**
 * Runs one call from its body to the last byte: parse, rewrite the model reference, dispatch, load, rewrite
 * the body, send. Throws a GatewayError before the head is sent. Afterwards every failure is reported inside
 * the response.
 */
export async function runCall(deps: CallDeps, call: InferenceCall, task: TaskRow): Promise<void> {
  const scope = new CallScope(call.res);
  deps.activeScopes.add(scope);
  const capture = deps.settings.value('captureBodies') ? new Capture(call.body) : null;
  const { parent } = call;
  const cancel = () => {
    const reason = new GatewayError('request.cancelled', { noRetry: true });
    scope.end(reason);
    parent?.cancel(reason);
  };
  const tracked = deps.tracker.begin(startOf(call, cancel, capture));
  const idleMs = deps.settings.value('idleTimeoutS') * 1000;
  const response = new ResponseWriter({
    res: call.res,
    onFirstByte: () => tracked.firstByte(),
    stallMs: idleMs,
    hasEndMarker: task.hasEndMarker,
    onChunk: capture === null ? undefined : (chunk) => capture.pushResponse(chunk),
  });
  const limit = deps.settings.value('totalTimeoutS') * 1000;
  scope.limit(limit, timedOut);
  try {
    const overhead = new OverheadTimer(call.overheadSince ?? call.receivedAt);
    const started = applyPreset(call, deps.sources);
    await start({ deps, call: started, task, scope, response, tracked, overhead });
  } catch (error) {
    const failure = endedBy(scope, error, response);
    if (failure instanceof ClientDisconnected) return tracked.end({ ...CLIENT_CLOSED, usage: null });
    finishWith(deps, call, response, tracked, failure);
  } finally {
    response.dispose();
    scope.dispose();
    deps.activeScopes.remove(scope);
  }
}

const startOf = (
  { id, route, tier, receivedAt, req, caller, parent }: InferenceCall,
  cancel: () => void,
  capture: Capture | null = null,
): RequestStart => ({
  id,
  route: ROUTES[route as RouteId].path,
  tier,
  receivedAt,
  caller,
  traceparent: req.headers.traceparent,
  capture,
  parentOutcome: parent?.outcome,
  cancel,
});

const timedOut = (): GatewayError => new GatewayError('dispatch.upstream_timeout');

const asGatewayError = (failure: unknown): GatewayError =>
  failure instanceof GatewayError ? failure : new GatewayError('internal', { cause: failure });

/**
 * Records a call that was refused before its task was known. The caller of this function still throws the
 * failure.
 */
export function recordRefusal(watch: RequestTracker, call: InferenceCall, failure: unknown): void {
  const known = asGatewayError(failure);
  const refusedAtOnce = { ...startOf(call, () => {}), parentOutcome: undefined };
  watch
    .begin(refusedAtOnce)
    .end({ status: known.status, error: known.code, failure: failureText(known), usage: null });
}

/**
 * Returns the reason that ended the scope, if any: an error thrown afterwards is only a consequence of it.
 */
function endedBy({ endReason }: CallScope, error: unknown, { target }: ResponseWriter): unknown {
  return endReason instanceof GatewayError ? nameTarget(endReason, target) : (endReason ?? error);
}

/**
 * Handles a failure that is not reported yet: rethrows it before the head is sent, otherwise reports it
 * inside the response.
 */
function finishWith(
  deps: CallDeps,
  call: InferenceCall,
  response: ResponseWriter,
  tracked: TrackedRequest,
  failure: unknown,
): void {
  const known = asGatewayError(failure);
  const status = response.headSent ? response.status : known.status;
  tracked.end({
    status,
    error: known.code,
    failure: failureText(known),
    reportedInBand: response.headSent,
    usage: null,
  });
  if (!response.headSent) throw failure;
  if (known !== failure) deps.log.error({ request: call.id, err: failure }, 'unexpected error in a request');
  response.fail(known);
}

function start(ctx: CallContext): Promise<void> {
  const { call, task } = ctx;
  const read =
    call.receive === undefined
      ? task.read(call, ctx)
      : task.read(call, ctx, (model) => refuseUnserved(ctx, model));
  if (!(read instanceof Promise)) return dispatchParsed(ctx, read);
  // The wait for a body that is parsed while it is received is the sender's time, not overhead.
  return ctx.overhead.excluding(read).then((reading) => dispatchParsed(ctx, reading));
}

function dispatchParsed(ctx: CallContext, reading: ParsedRequest): Promise<void> {
  ctx.tracked.requestedModel(reading.requestedName ?? reading.model);
  const { dispose } = reading;
  const served = serveWithFallbacks(ctx, reading);
  return dispose === undefined ? served : served.finally(dispose);
}

/** A request that may be served by another model. */
type FallbackRequest = ParsedRequest & { readonly fallbacks: ModelFallbacks };

function serveWithFallbacks(ctx: CallContext, reading: ParsedRequest): Promise<void> {
  const { deps, call } = ctx;
  const map = deps.settings.value('fallbacks');
  const names = [reading.alias?.name ?? null, reading.model];
  const header = call.req.headers[ALLOW_FALLBACK_HEADER];
  const isEnabled = deps.settings.value('fallbacksEnabled');
  const fallbacks = fallbacksOf({ path: call.path, names, header }, { map, isEnabled });
  if (fallbacks === null) return dispatchAndSend(ctx, reading);
  const request = { ...reading, fallbacks };
  return dispatchAndSend(ctx, request).catch((failure) => sendToFallbacks(ctx, request, failure));
}

/**
 * Sends the request to its fallbacks in turn (docs/spec/contract.md#fallbacks). When none of them takes it, the caller
 * gets the error of the requested model.
 */
async function sendToFallbacks(ctx: CallContext, reading: FallbackRequest, original: unknown): Promise<void> {
  if (!permitsFallback(original)) throw original;
  for (let { code } = original; ; ) {
    const model = nextFallback(ctx, reading.fallbacks);
    if (model === null) break;
    reading.fallbacks.take(model);
    resume(ctx, code);
    for (const name of TARGET_HEADERS) setResponseHeader(ctx, name, null);
    nameFallback(ctx, model);
    try {
      return await dispatchAndSend(ctx, { ...reading, model, alias: null, isFallback: true });
    } catch (failure) {
      if (ctx.scope.endReason || !isRefused(failure)) throw failure;
      code = failure.code;
    }
  }
  setResponseHeader(ctx, FALLBACK_HEADER, null);
  throw original;
}

/** Whether a fallback did not take the request: it failed as `permitsFallback` requires, or cannot do what it asks for. */
const isRefused = (failure: unknown): failure is GatewayError =>
  permitsFallback(failure) || (failure instanceof GatewayError && failure.status < 500);

/** Returns the next model to try; null when there is none, or when the response can no longer name it. */
function nextFallback({ call, deps, response }: CallContext, fallbacks: ModelFallbacks): string | null {
  const canName = !response.headSent || (response.eventStream && call.translated !== true);
  if (response.firstByteAt > 0 || !canName) return null;
  const { path } = call;
  const view = createRoutingView(deps.sources);
  return fallbacks.next({ path, type: pathRow(path).type }, view, ({ upstream, model }) =>
    deps.upstreams.refusal(upstream, { model }),
  );
}

/** Headers that name or describe a target that did not serve the request. */
const TARGET_HEADERS = ['x-svc-slot', 'x-svc-upstream', 'x-svc-balance', 'x-svc-degraded', 'x-svc-ignored'];

/** Names the fallback to the caller before its answer. */
function nameFallback(ctx: CallContext, model: string): void {
  const name = headerText(model);
  if (ctx.response.headSent) ctx.response.comment(`${FALLBACK_HEADER}: ${name}`);
  else setResponseHeader(ctx, FALLBACK_HEADER, name);
}

/**
 * Maximum number of times that a request is dispatched again because its slot changed or was removed while it
 * waited.
 */
const MAX_REDISPATCHES = 3;

/** What decides which model a request is for. */
type RequestedModel = Pick<ParsedRequest, 'model' | 'alias' | 'prefix'>;

/** The failures of slots that could not load for this request, by slot and model. */
type FailedSlots = ReadonlyMap<string, GatewayError>;
const NO_FAILED_SLOTS: FailedSlots = new Map();

/** Whether the slot could not be loaded for this request. A healthy sibling may serve it. */
const isSlotFailure = (failure: unknown): failure is GatewayError =>
  failure instanceof GatewayError && failure.code === 'slot.failed';

const isNoRoute = (failure: unknown): boolean =>
  failure instanceof GatewayError && failure.code === 'dispatch.no_route';

/** Looks for files that were added to the model folders since the last scan. */
const hasNewModels = async ({ deps, overhead }: CallContext): Promise<boolean> =>
  overhead.excluding(deps.sources.registry.refresh?.() ?? Promise.resolve(false));

/** Returns the address of a request. */
function addressOf({ call, deps }: CallContext, reading: RequestedModel, view: RoutingView): DispatchRequest {
  const named = modelOmitted(plainModelRef(reading.model), call.path, view);
  const { type } = pathRow(call.path);
  const resolved = rewriteModelRef(named, view, type);
  const modelRef = reading.alias ? { ...resolved, alias: reading.alias } : resolved;
  const affinity =
    reading.prefix &&
    new ConversationAffinity(deps.prefixes, reading.prefix, () => deps.settings.value('prefixAffinity'));
  return { path: call.path, type, modelRef, affinity };
}

/**
 * Refuses a request whose body is still being received when nothing serves its model, so that its sender does not send
 * the rest needlessly. Throws like `dispatch`. What only the end of the body can decide is left to it.
 */
async function refuseUnserved(ctx: CallContext, model: string, again = 1): Promise<void> {
  const view = createRoutingView(ctx.deps.sources);
  const request = addressOf(ctx, { model }, view);
  ctx.tracked.requestedModel(model);
  try {
    await choose(ctx, request, view);
  } catch (failure) {
    if (again === 0 || !isNoRoute(failure) || !(await hasNewModels(ctx))) throw failure;
    await refuseUnserved(ctx, model, again - 1);
  } finally {
    // The sender's time goes on.
    ctx.overhead.pause();
  }
}

/** Chooses the target of a request and records how. Throws like `dispatch`. */
function choose(
  ctx: CallContext,
  request: DispatchRequest,
  view: RoutingView,
  isFallback = false,
): Decision | Promise<Decision> {
  const refresh = async (): Promise<RoutingView> => {
    await ctx.overhead.excluding(ctx.deps.upstreams.refreshCold(ctx.scope.signal));
    return createRoutingView(ctx.deps.sources, true);
  };
  return dispatch(request, view, refresh, (found) =>
    ctx.tracked.resolved(resolutionInfo(request.modelRef, found, isFallback)),
  );
}

async function dispatchAndSend(
  ctx: CallContext,
  reading: ParsedRequest,
  again = MAX_REDISPATCHES,
  failed: FailedSlots = NO_FAILED_SLOTS,
): Promise<void> {
  const view = createRoutingView(ctx.deps.sources);
  const request = addressOf(ctx, reading, view);
  let decision: Decision;
  try {
    const choice = choose(ctx, request, view, reading.isFallback);
    decision = choice instanceof Promise ? await choice : choice;
  } catch (failure) {
    if (again === 0 || !isNoRoute(failure) || !(await hasNewModels(ctx))) throw failure;
    return dispatchAndSend(ctx, reading, again - 1, failed);
  }
  const { target } = decision;
  // A slot may have another model by now, because this one has failed.
  const slot = target.kind === 'slot' ? `${target.slot} ${target.model}` : null;
  const earlier = slot === null ? undefined : failed.get(slot);
  if (earlier !== undefined) throw earlier;
  if (failed.size > 0) ctx.tracked.failedOver('slot.failed');
  try {
    await sendWithFailover(ctx, reading, request, decision, NO_UPSTREAMS_TRIED);
  } catch (failure) {
    if (again === 0 || ctx.scope.endReason) throw failure;
    if (failure instanceof RedispatchError) {
      ctx.tracked.failedOver(failure.code);
      await dispatchAndSend(ctx, reading, again - 1);
    } else if (slot !== null && isSlotFailure(failure)) {
      await dispatchAndSend(ctx, reading, again - 1, new Map([...failed, [slot, failure]]));
    } else throw failure;
  }
}

/** Maximum number of upstreams that one request is sent to. */
const MAX_UPSTREAMS = 4;
const NO_UPSTREAMS_TRIED: ReadonlySet<string> = new Set();

/**
 * Sends the request. Continues with the next upstream that has the same model in the cases of
 * docs/spec/contract.md#retries. Sends once more to the same target when it refuses an option of the request.
 */
async function sendWithFailover(
  ctx: CallContext,
  reading: ParsedRequest,
  request: DispatchRequest,
  decision: Decision,
  before: ReadonlySet<string>,
): Promise<void> {
  const { prepare } = ctx.task;
  reading.fallbacks?.record(decision.target);
  const prepared = prepare === undefined ? null : await prepare(ctx, reading, decision);
  const connected = connect(ctx, reading, request, decision);
  const connection = connected instanceof Promise ? await ctx.overhead.excluding(connected) : connected;
  const tried = decision.target.kind === 'upstream' ? new Set([...before, decision.target.upstream]) : before;
  recordPrefix(ctx, reading, decision, before);
  const next = () => failoverTarget(ctx, decision, tried);
  const hasNext = () =>
    next() !== null || (reading.fallbacks !== undefined && nextFallback(ctx, reading.fallbacks) !== null);
  try {
    if (ctx.task.serve === undefined) await exchangeWithEngine(ctx, reading, prepared, connection, hasNext);
    else await serveTask(ctx, reading, connection, decision);
  } catch (failure) {
    // A scope that has ended is the reason for every later failure.
    if (ctx.scope.endReason) throw failure;
    if (failure instanceof RefusedOption) {
      resume(ctx, 'upstream.error');
      return await sendWithFailover(ctx, { ...reading, ...failure.change }, request, decision, before);
    }
    const other = failoverCaseOf(failure) === null ? null : next();
    if (other === null) throw await explained(ctx, failure, decision);
    resume(ctx, (failure as GatewayError).code);
    await sendWithFailover(ctx, reading, request, other, tried);
  } finally {
    connection.release();
  }
}

/** Returns the failure with the name of its target and, for a slot, with the reason after a check of the engine. */
async function explained(
  { deps, call }: CallContext,
  failure: unknown,
  { target }: Decision,
): Promise<unknown> {
  if (!(failure instanceof GatewayError)) return failure;
  if (target.kind === 'upstream') return nameTarget(failure, { slot: null, upstream: target.upstream });
  const { slot } = target;
  if (!isTargetFailure(failure)) return nameTarget(failure, { slot, upstream: null });
  const since = Date.now() - (performance.now() - call.receivedAt);
  const end = callEnd(failure, { status: failure.status });
  const isAnswered = end === null || !('failed' in end);
  const diagnosis = await deps.slots.diagnose(slot, { since, isAnswered });
  return explainFailure(failure, slot, { diagnosis, withLines: call.tier === 'admin' });
}

/** Records which of several upstreams serves a conversation, so that it returns there. */
function recordPrefix(
  { deps }: CallContext,
  { prefix }: ParsedRequest,
  { target, rule }: Decision,
  before: ReadonlySet<string>,
): void {
  const hasChoice = (rule ?? null) !== null || before.size > 0;
  if (target.kind === 'upstream' && hasChoice && prefix !== undefined)
    deps.prefixes.record(prefix(target.model), target.upstream);
}

/** Returns the next target of a request; null when it must not be sent again. */
function failoverTarget(
  { response, deps }: CallContext,
  decision: Decision,
  tried: ReadonlySet<string>,
): Decision | null {
  if (response.firstByteAt > 0 || tried.size >= MAX_UPSTREAMS) return null;
  const view = createRoutingView(deps.sources);
  const excluded = new Set(tried);
  for (;;) {
    const other = otherUpstream(decision, excluded, view);
    if (other?.target.kind !== 'upstream') return other;
    const { upstream, model } = other.target;
    if (deps.upstreams.refusal(upstream, { model }) === null) return other;
    excluded.add(upstream);
  }
}

/** Records why the last target did not serve the request, before the next one is tried. */
function resume({ overhead, tracked }: CallContext, code: string): void {
  overhead.resume();
  tracked.failedOver(code);
}
