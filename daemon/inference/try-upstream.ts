import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { UpstreamTestStepView } from '../contract/upstreams.ts';
import { isEventStream } from '../lib/net/sse.ts';
import { faultOf } from '../upstreams/connection-error.ts';
import type { AllUpstreams, UpstreamCall } from '../upstreams/port.ts';
import { queryUpstream, type UpstreamResponse } from '../upstreams/query-upstream.ts';
import { CallScope } from './forward/call-scope.ts';
import { errorInside200, judge, startsLikeError } from './forward/engine-error.ts';
import type { EngineConnections } from './forward/engines.ts';
import { engineHeaders } from './forward/headers.ts';
import { errorInEvents } from './forward/in-band-error.ts';
import { refusesOption } from './forward/option-support.ts';
import { outgoingPath, underBase } from './forward/outgoing-path.ts';
import { credentialsOf, redactCredentials } from './forward/own-credential.ts';
import { UsageTap } from './forward/usage-tap.ts';
import { scanBody, TRANSLATED_NAMES } from './rewrite/body-index.ts';
import { rewriteChat } from './rewrite/deviations.ts';

export interface TryUpstreamDeps {
  readonly upstreams: Pick<AllUpstreams, 'connect' | 'readList'>;
  readonly outbound: EngineConnections;
}

export interface UpstreamTrial {
  readonly upstream: string;
  /** Null tests the model list only. */
  readonly model: string | null;
  readonly requestId: string;
  /** Its close ends the test. */
  readonly res: ServerResponse;
}

const PATH = '/v1/chat/completions';
const CHAT_LIMIT_MS = 60_000;
const MAX_BYTES = 1024 * 1024;
/** With one token, some thinking models return an error. */
const MAX_TOKENS = 16;
/** OpenAI's message for a model that was still thinking at that limit: it works. */
const LIMIT_REACHED = 'output limit was reached';

type StepResult = Omit<UpstreamTestStepView, 'step' | 'ms'>;

/**
 * Tests an upstream like a real call: its current address and key, the same connections, rewrites, headers
 * and error rules. First its model list, then, with a model, a chat of a few tokens and a stream
 * that requests token counts.
 */
export async function tryUpstream(
  deps: TryUpstreamDeps,
  test: UpstreamTrial,
): Promise<UpstreamTestStepView[]> {
  const scope = new CallScope(test.res);
  try {
    const list = await timed('models', () => deps.upstreams.readList(test.upstream, scope.signal));
    if (!list.ok || test.model === null) return [list];
    const named = { ...test, model: test.model };
    const answer = await timed('chat', () => chat(deps, named, scope.signal));
    if (!answer.ok) return [list, answer];
    return [list, answer, await timed('stream', () => chat(deps, { ...named, stream: true }, scope.signal))];
  } catch (error) {
    // The caller has disconnected.
    if (scope.endReason) return [];
    throw error;
  } finally {
    scope.dispose();
  }
}

async function timed(
  step: UpstreamTestStepView['step'],
  work: () => Promise<StepResult>,
): Promise<UpstreamTestStepView> {
  const start = performance.now();
  const result = await work();
  return { step, ...result, ms: Math.round((performance.now() - start) * 10) / 10 };
}

type ChatTrial = UpstreamTrial & { readonly model: string; readonly stream?: boolean };

async function chat(deps: TryUpstreamDeps, test: ChatTrial, signal: AbortSignal): Promise<StepResult> {
  let route: UpstreamCall;
  try {
    route = deps.upstreams.connect(test.upstream, { isTest: true, model: test.model });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { ok: false, status: null, message: error.message };
  }
  try {
    const answer = await queryUpstream({
      outbound: deps.outbound,
      request: chatRequest(route, test),
      limitMs: CHAT_LIMIT_MS,
      maxBytes: MAX_BYTES,
      signal,
      observer: { onBegin: route.onResponse, onData: route.onData },
    });
    route.onEnd({ status: answer.status });
    return test.stream ? streamResultOf(answer, route) : resultOf(answer, route);
  } catch (error) {
    route.onEnd(signal.aborted ? null : { failed: error });
    signal.throwIfAborted();
    return { ok: false, status: null, message: faultOf(error).message };
  }
}

function chatRequest(route: UpstreamCall, { model, requestId, stream }: ChatTrial) {
  const messages = [{ role: 'user', content: 'Say ok.' }];
  const streaming = stream ? { stream, stream_options: { include_usage: true } } : {};
  const chat = JSON.stringify({ model, messages, max_tokens: MAX_TOKENS, ...streaming });
  // The chat is our own, so it is adapted to its target like translated ones.
  const index = scanBody(Buffer.from(chat), TRANSLATED_NAMES);
  const target = { origin: route.origin, local: !route.remote, thinkingDefault: () => null };
  const body = rewriteChat({ index, ...target }, model, model);
  return {
    origin: route.origin,
    path: underBase(route.base, outgoingPath(PATH, PATH, route.nativeRerank)),
    method: 'POST' as const,
    headers: engineHeaders({
      incoming: {},
      contentType: 'application/json',
      ownHeaders: route.headers,
      requestId,
    }),
    body,
    idleMs: route.idleMs ?? CHAT_LIMIT_MS,
    ...(route.connectMs === null ? {} : { connectMs: route.connectMs }),
  };
}

/**
 * Summarises the response to a stream with `stream_options` (docs/spec/contract.md#stream-usage). A server that refuses
 * the field works all the same: the gateway sends the request once more without it.
 */
function streamResultOf(answer: UpstreamResponse, route: UpstreamCall): StepResult {
  const { status, bytes, headers } = answer;
  if (refusesOption('stream_options', { status, bytes, truncated: false }))
    return { ok: true, status, message: REFUSES_USAGE };
  if (status >= 300) return resultOf(answer, route);
  if (!isEventStream(headers['content-type'])) return { ok: true, status, message: NO_STREAM };
  const failure = errorInEvents(redactCredentials(bytes, credentialsOf(route.headers)));
  if (failure !== null)
    return { ok: false, status, message: (failure.message ?? 'It sent an error.').slice(0, 500) };
  return { ok: true, status, message: hasUsage(bytes) ? 'It streamed a chat, with token counts.' : NO_USAGE };
}

const REFUSES_USAGE =
  'It refuses stream_options, so the token counts of its streams are unknown. Set stream_usage = false to stop sending the field.';
const NO_USAGE = 'It streamed a chat, without token counts.';
const NO_STREAM = 'It answered a stream with a complete response, which is converted.';

function hasUsage(stream: Buffer): boolean {
  const tap = new UsageTap();
  tap.markStream();
  tap.push(stream);
  return tap.read().completionTokens !== null;
}

/**
 * Summarises a response as a caller would see it. Reduces an error that is relayed byte for byte to its
 * message.
 */
function resultOf({ status, bytes: raw }: UpstreamResponse, route: UpstreamCall): StepResult {
  const bytes = redactCredentials(raw, credentialsOf(route.headers));
  if (status < 300 && startsLikeError(bytes) !== true) {
    const isChat = Array.isArray((parsed(bytes) as { choices?: unknown } | null)?.choices);
    return isChat
      ? success(status)
      : { ok: false, status, message: 'Its response is not a chat completion.' };
  }
  if (status < 300) return { ok: false, status, message: errorInside200(bytes, false).message };
  if (status === 400 && bytes.includes(LIMIT_REACHED)) return success(status);
  const verdict = judge({ status, bytes, truncated: false });
  if (!verdict.passes) return { ok: false, status, message: verdict.error.message };
  const { error } = parsed(bytes) as { error: { message?: unknown } };
  const message = typeof error.message === 'string' ? error.message : `It answered with status ${status}.`;
  return { ok: false, status, message: message.slice(0, 500) };
}

const success = (status: number): StepResult => ({ ok: true, status, message: 'It answered a chat.' });

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
