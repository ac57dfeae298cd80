import type { Tier } from '../contract/auth.ts';
import { GatewayError } from '../contract/errors.ts';
import type { RouteId } from '../contract/routes.ts';
import type { Settings } from '../settings/settings.ts';
import { authorizeInternal } from './authorize-internal.ts';
import { type InternalHead, InternalResponse } from './internal-response.ts';
import type { InferenceCall, ParentCall } from './serve.ts';
import type { TaskName } from './tasks.ts';

/** The routes that may be called from inside, with what serves them. */
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

/** One call of an inference route from inside the gateway, for a caller who is at its door by another route. */
export interface InternalCall {
  /** A request id of its own: the request log keeps one row for each. */
  readonly id: string;
  readonly path: InternalPath;
  /** The tier of the caller on whose behalf it is made. */
  readonly tier: Tier;
  /** Given away: whoever makes the call reads it no more. */
  readonly body: Buffer;
  /** A chat that was written here, from a request of another kind. */
  readonly translated?: boolean;
  /** Of the body; JSON when left out. */
  readonly contentType?: string;
  readonly priority?: 'interactive' | 'batch';
  /** Whether it waits for a load as streams do; as its body asks when left out. */
  readonly waitsAsStream?: boolean;
  /** What it is the first part of. */
  readonly parent?: ParentCall | undefined;
  /** Its end ends the engine's work, at any point of the call. */
  readonly signal: AbortSignal;
  /** Longest time for the whole call in milliseconds; then `dispatch.upstream_timeout`. */
  readonly limitMs?: number;
}

/** The answer of an inference route, its status and headers as an HTTP caller would get them. */
export interface InternalReply extends InternalHead {
  /**
   * The body as it comes, to be read once and to its end, or left early to end the call. Throws when it breaks off: the
   * signal's reason or a GatewayError. After the head of an event stream a failure is its last event, as for everyone.
   */
  readonly body: AsyncIterable<Buffer>;
  /** The failure of ours that the last event tells, whole, with its advice on trying again; null when there is none. */
  inBandError(): GatewayError | null;
  /** The reader can't go on with the body: it ends the call, and is what the request log says of it. */
  abort(failure: GatewayError): void;
}

/**
 * Calls an inference route through everything that a call over HTTP goes through below the door: class of the route,
 * rewrites, dispatch, lease, request log, metrics, abort. Rejects with a GatewayError while there is no head, or with
 * the signal's reason; an error that an engine words itself is an answer with its status, as over HTTP.
 */
export type Internal = (call: InternalCall) => Promise<InternalReply>;

export interface InternalDeps {
  readonly settings: Pick<Settings, 'value'>;
  readonly tasks: Readonly<Record<TaskName, (call: InferenceCall) => Promise<void>>>;
}

/** See `Internal`. */
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

/** The signal of the caller, which also ends when the time is up. */
function withTimeLimit({ signal, limitMs }: InternalCall): { signal: AbortSignal; stop: () => void } {
  if (limitMs === undefined) return { signal, stop: () => {} };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new GatewayError('dispatch.upstream_timeout')), limitMs);
  return { signal: AbortSignal.any([signal, late.signal]), stop: () => clearTimeout(timer) };
}
