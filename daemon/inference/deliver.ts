import { appName } from '../contract/caller-info.ts';
import { CONVERSATION_HEADER } from '../contract/conversation-reasons.ts';
import { readConversationHeader, reportedConversation } from '../contract/conversation-state.ts';
import { type GatewayError, openaiErrorType } from '../contract/errors.ts';
import { headerList, IGNORED_HEADER, mergedHeader } from '../contract/ignored.ts';
import type { Usage } from '../telemetry/request-tracker.ts';
import type {
  CallContext,
  Connection,
  InferenceCall,
  ParsedRequest,
  PreparedRequest,
  PreparedSink,
  TaskRow,
} from './call-context.ts';
import { normalizeError } from './dialects/normalize-error.ts';
import type { Decision } from './dispatch/dispatch.ts';
import { isBusyStatus, UpstreamBusy } from './dispatch/failover.ts';
import { callEnd } from './forward/call-end.ts';
import type { EffortFallback, EffortRequest } from './forward/effort-support.ts';
import { type EngineFailure, judge, type Verdict } from './forward/engine-error.ts';
import type { ExchangeEnd, Framing } from './forward/exchange-options.ts';
import { failureText } from './forward/failure-text.ts';
import { encodeName, engineHeaders, headerText } from './forward/headers.ts';
import { type RefusableOption, RefusedOption } from './forward/option-support.ts';
import { outgoingPath, underBase } from './forward/outgoing-path.ts';
import { send } from './forward/send.ts';
import { withWindowRemedy } from './forward/window-remedy.ts';

/** Serves a task that makes its own response. */
export async function serveTask(
  ctx: CallContext,
  parsed: ParsedRequest,
  connection: Connection,
  decision: Decision,
): Promise<void> {
  const { response, tracked, task } = ctx;
  setResponseHeaders(ctx, parsed, connection);
  tracked.sent();
  const served = task.serve?.(ctx, parsed, connection, decision);
  const end = await reportEnd(
    ctx,
    connection,
    Promise.resolve(served).then(() => null),
  );
  tracked.end({
    status: response.status,
    error: end?.code ?? null,
    failure: failureText(end),
    reportedInBand: true,
    usage: null,
  });
}

/**
 * Sends the request over a connection and relays the response until both have ended. Throws `UpstreamBusy` in
 * place of a busy answer that would pass unchanged while `canFailOver`.
 */
export async function exchangeWithEngine(
  ctx: CallContext,
  parsed: ParsedRequest,
  prepared: PreparedRequest | null,
  target: Connection,
  canFailOver: () => boolean,
): Promise<void> {
  const { deps, call, response, scope, tracked, task } = ctx;
  const effort = effortRequestOf(parsed, target);
  const effortFallback =
    parsed.effortFallback ?? (effort === null ? undefined : deps.effortSupport.fallbackFor(effort));
  const connection = withEffort(withStreamUsage(ctx, target), effortFallback);
  const body = (prepared ?? parsed).body(connection, connection.engineModel);
  const sink = prepared?.sink(connection) ?? null;
  setResponseHeaders(ctx, parsed, connection);
  const addIgnored = ignoredHeader(ctx, parsed);
  const framing = framingOf(ctx, parsed, connection, addIgnored);
  if (framing?.stream && call.waitsAsStream !== false)
    response.startKeepAlive(call.overheadSince ?? call.receivedAt);
  const sentAt = performance.now();
  tracked.sent();
  const path = task.path?.(connection) ?? pathOf(call, connection);
  const rule = judgeBusy(
    judgeOption(
      ctx,
      connection,
      framing?.removesUsage ? 'stream_options' : prepared?.refusable?.(connection, connection.engineModel),
      judgeImages(
        ctx,
        connection,
        effort === null ? judgeOf(task, connection) : judgeEffort(ctx, connection, effort, effortFallback),
      ),
    ),
    canFailOver,
  );
  const sent = send({
    outbound: deps.outbound,
    sink: sink ?? response,
    scope,
    judge: (failure) => judgeWindow(ctx, connection, failure, (rule ?? judge)({ ...failure, path })),
    asEvents: task.asEvents,
    soundless: soundlessOf(task, parsed),
    framing,
    ownHeaders: connection.headers,
    isUpstream: connection.isUpstream,
    onBegin: (status, headers) => {
      connection.onBegin(status);
      const ignored = headers[IGNORED_HEADER];
      if (typeof ignored === 'string') addIgnored(ignored);
      // Another target may answer in place of a failed one.
      if (status < 300 && connection.isWorker()) nameConversation(ctx, headers[CONVERSATION_HEADER]);
    },
    onData: connection.onData,
    onDown: connection.onDown,
    request: {
      origin: connection.origin,
      path,
      method: 'POST',
      headers: engineHeaders({
        incoming: call.req.headers,
        contentType: task.verbatim ? undefined : 'application/json',
        ownHeaders: connection.sendsAppName ? withAppName(connection.headers, call) : connection.headers,
        requestId: call.id,
        traceparent: connection.local ? tracked.traceparent : null,
      }),
      body,
      idleMs: connection.idleMs ?? deps.settings.value('idleTimeoutS') * 1000,
      connectMs: connection.connectMs ?? undefined,
    },
  });
  const end = await reportEnd(ctx, connection, sink === null ? sent : awaitSink(sent, sink));
  const usage = response.measuredUsage(sentAt);
  if (task.hasEndMarker && connection.slot !== null && !connection.isWorker())
    recordReused(ctx, connection.slot, usage);
  tracked.end({ ...response.logResult(end), reportedInBand: true, usage });
  if (usage.tokensPerSecond !== null) connection.reportSpeed(usage.tokensPerSecond);
}

/** Reports what a worker did with the beginning of the conversation. */
function nameConversation({ call, response, tracked }: CallContext, header: unknown): void {
  const state = readConversationHeader(header);
  if (state === null) return;
  tracked.conversation(state);
  if (!response.headSent) call.res.setHeader(CONVERSATION_HEADER, String(header));
}

/** Records what an engine of another kind reused, as far as it reports it. */
function recordReused({ deps, tracked }: CallContext, slot: string, usage: Usage): void {
  const { cachedTokens, promptTokens } = usage;
  if (cachedTokens === undefined || promptTokens === null) return;
  // The record of a slot is made for each read, which costs as much as half a small chat.
  const conversations = deps.slots.get(slot)?.conversations;
  if (conversations === undefined) return;
  tracked.conversation(reportedConversation({ cachedTokens, promptTokens }, conversations));
}

/** Adds the header by which an app names itself. A person may have chosen any text. */
function withAppName(headers: Connection['headers'], { caller }: InferenceCall): Connection['headers'] {
  const name = caller === undefined ? null : appName(caller);
  return name === null ? headers : { ...headers, 'x-title': headerText(name) };
}

/** Returns the form of the response to a chat or completion; undefined for every other task. */
function framingOf(
  ctx: CallContext,
  parsed: ParsedRequest,
  { streamUsage }: Connection,
  addIgnored: (name: string) => void,
): Framing | undefined {
  const { task, call } = ctx;
  const { stream, includesUsage, choices = 1 } = parsed;
  if (!task.hasEndMarker) return undefined;
  return {
    stream,
    choices,
    onFewerChoices: () => addIgnored('n'),
    removesUsage: stream && streamUsage && includesUsage !== true,
    // A translated chat gets the error of its own API.
    errorFor: (error) => (call.translated ? error : normalizeError(error, null, openaiErrorType)),
  };
}

/** Omits the request for token counts where the target is known to refuse it. */
function withStreamUsage({ deps }: CallContext, target: Connection): Connection {
  const { streamUsage, origin, engineModel } = target;
  const isRefused = streamUsage && deps.optionSupport.isRefused('stream_options', origin, engineModel);
  return isRefused ? { ...target, streamUsage: false } : target;
}

/** Returns the reasoning effort that is requested from a provider; null when none is. */
function effortRequestOf(
  { effort }: ParsedRequest,
  { upstream, local, engineModel }: Connection,
): EffortRequest | null {
  if (!effort || local || upstream === null) return null;
  return { ...effort, upstream, model: engineModel ?? '' };
}

function withEffort(connection: Connection, effortFallback: EffortFallback | undefined): Connection {
  if (effortFallback === undefined) return connection;
  const degraded = `reasoning_effort is refused: sent ${effortFallback === 'none' ? 'as none' : 'without'}`;
  return { ...connection, effortFallback, degraded };
}

/** Returns what makes the error for a response without sound; undefined for every task but speech. */
function soundlessOf({ soundless }: TaskRow, parsed: ParsedRequest): (() => GatewayError) | undefined {
  return soundless && (() => soundless(parsed));
}

type Judge = (failure: EngineFailure) => Verdict;

/** Returns the rule of a task for the failures of this target; undefined for the common rule. */
function judgeOf({ judge: rule }: TaskRow, connection: Connection): Judge | undefined {
  return rule && ((failure) => rule(failure, connection));
}

/**
 * Throws RefusedOption for a refusal of the effort, so that the call is tried again. Judges everything else
 * as usual.
 */
const judgeEffort =
  (
    { task, deps, response }: CallContext,
    connection: Connection,
    request: EffortRequest,
    fallback: EffortFallback | undefined,
  ) =>
  (failure: EngineFailure): Verdict => {
    const otherwise =
      response.firstByteAt > 0 ? undefined : deps.effortSupport.recordFailure(request, fallback, failure);
    if (otherwise === undefined) return (judgeOf(task, connection) ?? judge)(failure);
    return { passes: false, error: new RefusedOption(failure.status, { effortFallback: otherwise }) };
  };

/**
 * Throws RefusedOption for a refusal of an option that the answer does not depend on, so that the call is tried
 * again without it. Judges everything else as usual.
 */
function judgeOption(
  { deps, response }: CallContext,
  { origin, engineModel }: Connection,
  option: RefusableOption | undefined,
  next: Judge | undefined,
): Judge | undefined {
  if (option === undefined) return next;
  return (failure) => {
    const isRefused = deps.optionSupport.recordFailure(option, origin, engineModel, failure);
    if (!isRefused || response.firstByteAt > 0) return (next ?? judge)(failure);
    return { passes: false, error: new RefusedOption(failure.status) };
  };
}

/** Names the slot and its setting in the error for a prompt that is too long. */
function judgeWindow(
  { deps }: CallContext,
  { slot }: Connection,
  { bytes, truncated }: EngineFailure,
  verdict: Verdict,
): Verdict {
  if (slot === null || truncated) return verdict;
  const { runner, context = null } = deps.slots.config(slot) ?? {};
  const isChanged = deps.slots.get(slot)?.pending?.includes('context') === true;
  return withWindowRemedy(verdict, bytes, {
    slot,
    isAttached: runner === 'attach',
    changedTokens: isChanged ? context : null,
  });
}

/** Replaces a busy answer that would pass unchanged, if another upstream may serve the request. */
const judgeBusy =
  (next: Judge | undefined, canFailOver: () => boolean) =>
  (failure: EngineFailure): Verdict => {
    const verdict = (next ?? judge)(failure);
    const isReplaced = verdict.passes && isBusyStatus(failure.status) && canFailOver();
    return isReplaced ? { passes: false, error: new UpstreamBusy(failure) } : verdict;
  };

/** Remembers a refusal of images before the failure is judged. Only routes with images in chats need it. */
function judgeImages(
  { deps, task }: CallContext,
  { origin, engineModel }: Connection,
  next: Judge | undefined,
): Judge | undefined {
  if (!task.hasEndMarker) return next;
  return (failure) => {
    deps.imageSupport.recordFailure(origin, engineModel, failure);
    return (next ?? judge)(failure);
  };
}

const pathOf = ({ path, req }: InferenceCall, { base, nativeRerank }: Connection): string =>
  underBase(base, outgoingPath(path, req.url ?? '', nativeRerank));

/** Waits for the end of a call and reports it to the connection. */
async function reportEnd(
  { response, scope }: CallContext,
  connection: Connection,
  sent: Promise<ExchangeEnd>,
): Promise<ExchangeEnd> {
  let end: ExchangeEnd;
  try {
    end = response.outcomeOf(await sent);
  } catch (error) {
    connection.onEnd(callEnd(scope.endReason ?? error, { status: response.status }));
    throw error;
  }
  connection.onEnd(callEnd(end, { status: response.status }));
  return end;
}

/** Waits for the exchange and for the response that is made from it. */
async function awaitSink(sent: Promise<ExchangeEnd>, sink: PreparedSink): Promise<ExchangeEnd> {
  try {
    const end = await sent;
    await sink.settled;
    return end;
  } finally {
    sink.dispose();
  }
}

/**
 * Runs when the gateway's own work on a request is done: informs the log and sets the headers of every
 * proxied answer (docs/spec/contract.md#answer-headers), error envelopes included.
 */
function setResponseHeaders(
  { call, response, tracked, overhead }: CallContext,
  parsed: ParsedRequest,
  connection: Connection,
): void {
  response.target = connection;
  overhead.pause();
  const overheadMs = overhead.ms;
  tracked.prepared({ waits: connection.waitTimes, overheadMs, degraded: connection.degraded });
  if (response.headSent) return;
  const { res } = call;
  if (connection.model !== null) res.setHeader('x-svc-model', encodeName(connection.model));
  if (connection.degraded !== null) res.setHeader('x-svc-degraded', headerText(connection.degraded));
  if (parsed.omni) res.setHeader('x-svc-omni', 'unavailable');
  const ignored = parsed.ignored?.() ?? [];
  if (ignored.length > 0) res.setHeader(IGNORED_HEADER, headerList(ignored));
  res.setHeader('x-svc-overhead-ms', overheadMs.toFixed(2));
}

/** Returns what names more that the engine ignored, after what the gateway left out itself. */
function ignoredHeader(
  { call, response }: CallContext,
  { ignored }: ParsedRequest,
): (byEngine: string) => void {
  let names: string | undefined;
  return (byEngine) => {
    if (response.headSent) return;
    names = mergedHeader(names ?? ignored?.().join(', '), byEngine);
    call.res.setHeader(IGNORED_HEADER, names);
  };
}
