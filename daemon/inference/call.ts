import { GatewayError } from '../contract/errors.ts';
import { ROUTES, type RouteId } from '../contract/routes.ts';
import type { Log } from '../lib/log.ts';
import type { SwapRemoveSet } from '../lib/perf/swap-remove-set.ts';
import type { Settings } from '../settings/settings.ts';
import { RedispatchError } from '../slots/refusals.ts';
import type { Slots } from '../slots/slots.ts';
import { Capture } from '../telemetry/captures.ts';
import type { RequestStart, RequestTrack, RequestWatch } from '../telemetry/request-tracker.ts';
import type { Encoders } from './audio/encoders.ts';
import type { Spools } from './audio/spool-store.ts';
import { connect } from './connect.ts';
import { exchange, serve } from './deliver.ts';
import { type Decision, dispatch } from './dispatch/dispatch.ts';
import { neverSent, otherUpstream } from './dispatch/failover.ts';
import { modelOmitted } from './dispatch/model-omitted.ts';
import { plainAddress } from './dispatch/model-ref.ts';
import { pathRow } from './dispatch/paths.ts';
import type { Ask } from './dispatch/resolver.ts';
import { type PictureSources, takePicture } from './dispatch/routing-view.ts';
import { resolvedBy } from './dispatch/trace-view.ts';
import { CallerLeft, LEFT, Life } from './forward/call-scope.ts';
import { EffortRefused, type Efforts } from './forward/effort-support.ts';
import type { Engines } from './forward/engines.ts';
import { Answer } from './forward/response-writer.ts';
import type { Images } from './images/images.ts';
import { OwnTime } from './overhead-timer.ts';
import type { RegistryLike, Upstreams } from './ports.ts';
import { rewriteAddress } from './rewrite/deviations.ts';
import type { InferenceCall } from './serve.ts';
import type { Reading, TaskRow } from './tasks.ts';

export interface RunDeps {
  readonly settings: Pick<Settings, 'value'>;
  readonly slots: Pick<Slots, 'views' | 'get' | 'config' | 'leaseNow' | 'ensureReady' | 'recordUsage'>;
  readonly registry: RegistryLike;
  readonly upstreams: Upstreams;
  readonly watch: RequestWatch;
  readonly log: Log;
  readonly outbound: Engines;
  readonly sources: PictureSources;
  readonly spools: Spools;
  readonly encoders: Encoders;
  readonly images: Images;
  readonly efforts: Efforts;
  /** Calls under way. */
  readonly lives: SwapRemoveSet<Life>;
}

/** One call under way, with everything its steps share. */
export interface Walk {
  readonly deps: RunDeps;
  readonly call: InferenceCall;
  readonly task: TaskRow;
  readonly life: Life;
  readonly answer: Answer;
  readonly track: RequestTrack;
  /** What `x-svc-overhead-ms` tells; it stands still once the request has left. */
  readonly own: OwnTime;
}

/**
 * Takes one call from its body to its last byte: read, rewrite the address, dispatch, load, rewrite the body, send.
 * Throws a GatewayError while the head is not out; afterwards every failure has been told in the answer.
 */
export async function runCall(deps: RunDeps, call: InferenceCall, task: TaskRow): Promise<void> {
  const life = new Life(call.res);
  deps.lives.add(life);
  const capture = deps.settings.value('captureBodies') ? new Capture(call.body) : null;
  const { whole } = call;
  const cancel = () => {
    const reason = new GatewayError('request.cancelled', { noRetry: true });
    life.end(reason);
    whole?.cancel(reason);
  };
  const track = deps.watch.begin(startOf(call, cancel, capture));
  const idleMs = deps.settings.value('idleTimeoutS') * 1000;
  const answer = new Answer({
    res: call.res,
    firstByte: () => track.firstByte(),
    stallMs: idleMs,
    tellsEnd: task.tellsEnd,
    seen: capture === null ? undefined : (chunk) => capture.answered(chunk),
  });
  const limit = deps.settings.value('totalTimeoutS') * 1000;
  life.limit(limit, timedOut);
  try {
    const own = new OwnTime(call.ownSince ?? call.receivedAt);
    await walk({ deps, call, task, life, answer, track, own });
  } catch (error) {
    const failure = endedBy(life, error);
    if (failure instanceof CallerLeft) return track.end({ ...LEFT, usage: null });
    finishWith(deps, call, answer, track, failure);
  } finally {
    answer.dispose();
    life.dispose();
    deps.lives.remove(life);
  }
}

const startOf = (
  { id, route, tier, receivedAt, req, whole }: InferenceCall,
  cancel: () => void,
  capture: Capture | null = null,
): RequestStart => ({
  id,
  route: ROUTES[route as RouteId].path,
  tier,
  receivedAt,
  traceparent: req.headers.traceparent,
  capture,
  whole: whole?.ended,
  cancel,
});

const timedOut = (): GatewayError => new GatewayError('dispatch.upstream_timeout');

const asKnown = (failure: unknown): GatewayError =>
  failure instanceof GatewayError ? failure : new GatewayError('internal', { cause: failure });

/** Notes a call that was refused before anybody knew what to run for it; whoever calls this throws the failure on. */
export function noteRefused(watch: RequestWatch, call: InferenceCall, failure: unknown): void {
  const { status, code } = asKnown(failure);
  const refusedAtOnce = { ...startOf(call, () => {}), whole: undefined };
  watch.begin(refusedAtOnce).end({ status, error: code, usage: null });
}

/** When the call's life ended, whatever was thrown is only its echo. */
const endedBy = (life: Life, error: unknown): unknown => life.ended ?? error;

/** A failure that nobody has told yet: thrown on while the head is not out, told in the answer afterwards. */
function finishWith(
  deps: RunDeps,
  call: InferenceCall,
  answer: Answer,
  track: RequestTrack,
  failure: unknown,
): void {
  const known = asKnown(failure);
  const status = answer.headSent ? answer.status : known.status;
  track.end({ status, error: known.code, told: answer.headSent, usage: null });
  if (!answer.headSent) throw failure;
  if (known !== failure) deps.log.error({ request: call.id, err: failure }, 'unexpected error in a request');
  answer.fail(known);
}

function walk(on: Walk): Promise<void> {
  const read = on.task.read(on.call, on);
  if (!(read instanceof Promise)) return go(on, read);
  // A body that is read while it comes makes us wait for its sender.
  return on.own.without(read).then((reading) => go(on, reading));
}

function go(on: Walk, reading: Reading): Promise<void> {
  on.track.asked(reading.asked ?? reading.model);
  const { dispose } = reading;
  return dispose === undefined ? follow(on, reading) : follow(on, reading).finally(dispose);
}

/** How often one request is dispatched anew because its slot changed or went while it waited. */
const MOST_AGAIN = 3;

async function follow(on: Walk, reading: Reading, again = MOST_AGAIN): Promise<void> {
  const { call, deps } = on;
  const picture = takePicture(deps.sources);
  const named = modelOmitted(plainAddress(reading.model), call.path, picture);
  const { type } = pathRow(call.path);
  const address = rewriteAddress(named, picture, type);
  const ask: Ask = { path: call.path, type, address };
  const refresh = async () => {
    await on.own.without(deps.upstreams.refreshCold(on.life.signal));
    return takePicture(deps.sources, true);
  };
  const choice = dispatch(ask, picture, refresh, (found) => on.track.resolved(resolvedBy(address, found)));
  try {
    await attempt(on, reading, ask, choice instanceof Promise ? await choice : choice, NOBODY);
  } catch (failure) {
    if (!(failure instanceof RedispatchError) || again === 0 || on.life.ended) throw failure;
    on.track.wentOn(failure.code);
    await follow(on, reading, again - 1);
  }
}

/** Upstreams that one request is offered to at most. */
const MOST_TRIED = 4;
const NOBODY: ReadonlySet<string> = new Set();

/**
 * Sends the request; an upstream that is not even reached passes it on to the next one with the same model, and one that
 * refuses the effort is asked once more.
 */
async function attempt(
  on: Walk,
  reading: Reading,
  ask: Ask,
  decision: Decision,
  before: ReadonlySet<string>,
): Promise<void> {
  const { prepare } = on.task;
  const prepared = prepare === undefined ? null : await prepare(on, reading, decision);
  const connected = connect(on, reading, ask, decision);
  const connection = connected instanceof Promise ? await on.own.without(connected) : connected;
  try {
    if (on.task.serve === undefined) await exchange(on, reading, prepared, connection);
    else await serve(on, reading, connection, decision);
  } catch (failure) {
    const tried =
      decision.target.kind === 'upstream' ? new Set([...before, decision.target.upstream]) : before;
    const may = neverSent(failure) && !on.answer.headSent && !on.life.ended && tried.size < MOST_TRIED;
    const refused = failure instanceof EffortRefused && !on.life.ended ? failure.told : null;
    const other = may ? otherUpstream(decision, tried, takePicture(on.deps.sources)) : null;
    const next = refused === null ? other : decision;
    if (next === null) throw failure;
    on.own.resume();
    on.track.wentOn(refused === null ? 'dispatch.upstream_unavailable' : 'upstream.error');
    if (refused === null) await attempt(on, reading, ask, next, tried);
    else await attempt(on, { ...reading, effortTold: refused }, ask, next, before);
  } finally {
    connection.release();
  }
}
