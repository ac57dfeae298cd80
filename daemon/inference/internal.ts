import type { Tier } from '../contract/auth.ts';
import type { CallerInfo } from '../contract/caller-info.ts';
import { GatewayError } from '../contract/errors.ts';
import type { RouteId } from '../contract/routes.ts';
import type { Settings } from '../settings/settings.ts';
import { authorizeInternal } from './authorize-internal.ts';
import type { InferenceCall, ParentCall } from './call-context.ts';
import { type InternalHead, InternalResponse } from './internal-response.ts';
import type { TaskName } from './tasks.ts';

/** The routes that can be called internally, with their tasks. */
export const INTERNAL_ROUTES = {
  '/v1/chat/completions': { route: 'v1.chat', task: 'chat' },
  '/v1/completions': { route: 'v1.completions', task: 'completions' },
  '/v1/embeddings': { route: 'v1.embeddings', task: 'embeddings' },
  '/v1/rerank': { route: 'v1.rerank', task: 'rerank' },
  '/v1/audio/speech': { route: 'v1.speech', task: 'speech' },
  '/v1/audio/transcriptions': { route: 'v1.transcriptions', task: 'transcriptions' },
  '/v1/images/generations': { route: 'v1.images', task: 'images' },
} as const satisfies Record<string, { route: RouteId; task: TaskName }>;

export type InternalPath = keyof typeof INTERNAL_ROUTES;

/** One internal call of an inference route, on behalf of a caller of another route. */
export interface InternalCall {
  /** A separate request id: the request log has one row per id. */
  readonly id: string;
  readonly path: InternalPath;
  /** The tier of the caller on whose behalf the call is made. */
  readonly tier: Tier;
  /** Who called the other route. */
  readonly caller?: CallerInfo | undefined;
  /** Ownership passes to the call: do not read it afterwards. */
  readonly body: Buffer;
  /** The chat was made here from a request of another kind. */
  readonly translated?: boolean;
  /** Content type of the body; default JSON. */
  readonly contentType?: string;
  readonly priority?: 'interactive' | 'batch';
  /** Whether the call waits for a load like a stream; by default as its body says. */
  readonly waitsAsStream?: boolean;
  /** The multi-round call that this call is the first part of. */
  readonly parent?: ParentCall | undefined;
  /** Its abort ends the engine's work, at any point of the call. */
  readonly signal: AbortSignal;
  /** Maximum time of the whole call in milliseconds; then `dispatch.upstream_timeout`. */
  readonly limitMs?: number;
}

/** The reply of an inference route, with the status and headers that an HTTP caller would get. */
export interface InternalReply extends InternalHead {
  /**
   * The body as it arrives. Read it once and to the end, or leave early to end the call. Throws the reason of
   * the signal or a GatewayError when it breaks off. After the head of an event stream, a failure is its last
   * event, as for every caller.
   */
  readonly body: AsyncIterable<Buffer>;
  /**
   * Returns the gateway's failure that the last event reports, with its retry advice; null when there is
   * none.
   */
  inBandError(): GatewayError | null;
  /** Ends the call because the reader cannot use the body; `failure` goes into the request log. */
  abort(failure: GatewayError): void;
}

/**
 * Calls an inference route through everything that an HTTP call passes after authentication: route class,
 * rewrites, dispatch, lease, request log, metrics, abort. Rejects with a GatewayError before the head, or
 * with the reason of the signal. An error in an engine's own words is a reply with its status, as over HTTP.
 */
export type Internal = (call: InternalCall) => Promise<InternalReply>;

export interface InternalDeps {
  readonly settings: Pick<Settings, 'value'>;
  readonly tasks: Readonly<Record<TaskName, (call: InferenceCall) => Promise<void>>>;
}

/** Implements `Internal`. */
export async function callInternally(deps: InternalDeps, call: InternalCall): Promise<InternalReply> {
  const { route, task } = INTERNAL_ROUTES[call.path];
  authorize(deps, route, call.tier);
  const { signal, stop } = withTimeLimit(call);
  const res = new InternalResponse(signal);
  const running = deps.tasks[task]({
    id: call.id,
    route,
    path: call.path,
    tier: call.tier,
    caller: call.caller,
    req: { url: call.path, headers: headersOf(call) },
    res,
    body: call.body,
    waitsAsStream: call.waitsAsStream,
    translated: call.translated,
    ...(call.parent && { parent: call.parent }),
    receive: async (take) => take(call.body),
    receivedAt: performance.now(),
  });
  void running.then(
    () => res.callEnded(),
    (error: unknown) => res.fail(error),
  );
  res.once('close', stop);
  const head = await res.head;
  return {
    ...head,
    body: res.chunks(),
    inBandError: () => res.inBandError,
    abort: (failure) => res.abort(failure),
  };
}

function authorize({ settings }: InternalDeps, route: RouteId, tier: Tier): void {
  const verdict = authorizeInternal(settings, route, tier);
  if (verdict !== 'pass') throw new GatewayError(verdict);
}

function headersOf({ contentType, priority }: InternalCall): Record<string, string> {
  const headers = { 'content-type': contentType ?? 'application/json' };
  return priority === 'batch' ? { ...headers, 'x-svc-priority': priority } : headers;
}

/** Returns the signal of the caller, extended by the time limit. */
function withTimeLimit({ signal, limitMs }: InternalCall): { signal: AbortSignal; stop: () => void } {
  if (limitMs === undefined) return { signal, stop: () => {} };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new GatewayError('dispatch.upstream_timeout')), limitMs);
  return { signal: AbortSignal.any([signal, late.signal]), stop: () => clearTimeout(timer) };
}
