import { GatewayError } from '../../contract/errors.ts';
import { releaseWhenWritten } from '../../lib/perf/buffer-release.ts';
import type { InferenceCall } from '../call-context.ts';
import type { Dialect, Translation } from './dialect.ts';
import { DialectResponse } from './dialect-response.ts';
import { toCallerFailure } from './error-paths.ts';
import { ExtrasCache } from './extras-cache.ts';
import { asList, type Json } from './json.ts';
import { messages, messagesCount } from './messages/messages.ts';
import { ResponseMemory } from './responses/response-memory.ts';
import { responses } from './responses/responses.ts';

const DIALECTS = { responses, messages, messagesCount } as const satisfies Record<string, Dialect>;
export type DialectName = keyof typeof DIALECTS;

type Task = (call: InferenceCall) => Promise<void>;

/**
 * Serves a request of another API as the chat that it means. Everything that applies to a chat (rewrites,
 * dispatch, lease, limits, request log) applies to it. `recordRefusal` records requests that cannot be translated.
 */
export function serveDialect(
  name: DialectName,
  tasks: Readonly<Record<Translation['task'], Task>>,
  recordRefusal: (call: InferenceCall, failure: unknown) => void,
): Task {
  const extras = new ExtrasCache();
  const memory = new ResponseMemory();
  const translated = (call: InferenceCall): Translation => {
    try {
      return DIALECTS[name](call.body, call.callerKey === undefined ? null : memory.of(call.callerKey));
    } catch (failure) {
      recordRefusal(call, failure);
      throw failure;
    }
  };
  return async (call) => {
    const translation = translated(call);
    const { path, task, origin, headers } = translation;
    const { chat } = origin;
    for (const [header, value] of Object.entries(headers)) call.res.setHeader(header, value);
    const requested = typeof chat.model === 'string' ? chat.model : '';
    const body = Buffer.from(JSON.stringify(chat));
    const served = tasks[task]({
      ...call,
      path,
      // Query parameters of the other API have no meaning for a chat.
      req: { url: path, headers: call.req.headers },
      res: new DialectResponse(call.res, translation, requested, extras),
      body,
      translated: true,
      history: {
        messages: asList(chat.messages) as readonly Json[],
        extraOf: (upstream, callId) => extras.of(upstream, callId),
      },
    });
    try {
      await served;
    } catch (failure) {
      throw failure instanceof GatewayError ? toCallerFailure(origin, failure) : failure;
    } finally {
      releaseWhenWritten(body);
    }
  };
}
