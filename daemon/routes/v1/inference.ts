import { createHash } from 'node:crypto';
import { readCredentials } from '../../auth/credentials.ts';
import type { InferenceCall, ReceiveBody } from '../../inference/call-context.ts';
import type { DialectName } from '../../inference/dialects/serve-dialect.ts';
import type { TaskName } from '../../inference/tasks.ts';
import { releaseWhenWritten } from '../../lib/perf/buffer-release.ts';
import { readCallerInfo } from '../../telemetry/caller-info.ts';
import type { RouteDeps } from '../deps.ts';
import type { Call, InferenceHandler, InferenceRouteId } from '../handler.ts';

type Exchange = Parameters<InferenceHandler>[0];

/** Reads the bodies of inference routes under their caps. The composition root injects `http/receive-body`. */
export interface BodyReader {
  /** The whole body, and how many milliseconds of the reading were work rather than waiting for the sender. */
  bytes(ctx: Exchange): Promise<{ readonly bytes: Buffer; readonly workMs: number }>;
  /** The body as a stream. */
  receive(ctx: Exchange): ReceiveBody;
}

const EMPTY = Buffer.alloc(0);

/** The inference routes with a JSON body: read the bytes and pass them to the dispatcher. */
export function inferenceRoutes(deps: RouteDeps, read: BodyReader) {
  const run =
    (task: TaskName | DialectName): InferenceHandler =>
    async (ctx) => {
      const readAt = performance.now();
      const { bytes, workMs } = await read.bytes(ctx);
      await releaseBodyAfter(bytes, deps.inference[task](inferenceCall(deps, ctx, bytes, readAt + workMs)));
    };
  const responses: InferenceHandler = async (ctx) => {
    const readAt = performance.now();
    const { bytes, workMs } = await read.bytes(ctx);
    const received = inferenceCall(deps, ctx, bytes, readAt + workMs);
    const callerKey = callerKeyOf(ctx.state, () => deps.auth.address(ctx.state.auth));
    await releaseBodyAfter(bytes, deps.inference.responses({ ...received, callerKey }));
  };
  const chat: InferenceHandler = (ctx) => {
    const readAt = performance.now();
    return read
      .bytes(ctx)
      .then(({ bytes, workMs }) =>
        releaseBodyAfter(bytes, deps.omni.chat(inferenceCall(deps, ctx, bytes, readAt + workMs))),
      );
  };
  const transcribe: InferenceHandler = (ctx) => {
    const received = inferenceCall(deps, ctx, EMPTY, performance.now());
    return deps.inference.transcriptions({ ...received, receive: read.receive(ctx) });
  };
  return {
    'v1.chat': chat,
    'v1.chat.count': run('count'),
    'v1.responses': responses,
    'v1.messages': run('messages'),
    'v1.messages.count': run('messagesCount'),
    'v1.completions': run('completions'),
    'v1.embeddings': run('embeddings'),
    'v1.rerankings': run('rerank'),
    'v1.rerank': run('rerank'),
    'v1.reranking': run('rerank'),
    'v1.score': run('score'),
    'v1.speech': run('speech'),
    'v1.images': run('images'),
    'v1.transcriptions': transcribe,
  } satisfies Record<InferenceRouteId, InferenceHandler>;
}

/** Returns a digest of the caller's credential, or of the address of a caller without one. */
function callerKeyOf({ auth, caller }: Call, addressOf: () => string): string {
  const { bearer, apiKey } = readCredentials(auth);
  const credential = caller.sessionId ?? bearer ?? apiKey;
  const identity = credential === null ? `address ${addressOf()}` : `credential ${credential}`;
  return createHash('sha256').update(identity).digest('base64url');
}

/** Shorter bodies share their memory with the request head. */
const MIN_RELEASE_BYTES = 64 * 1024;

/**
 * Releases the body when its call is over. Left to the garbage collector, long bodies trigger full
 * collections: a third of the CPU of a chat of 2,000 messages.
 */
const releaseBodyAfter = (body: Buffer, answered: Promise<void>): Promise<void> =>
  body.length < MIN_RELEASE_BYTES ? answered : answered.finally(() => releaseWhenWritten(body));

/**
 * Creates the call for the inference layer once its body is read. `waitedSince` is when the wait for the body
 * would have started if all waiting came last.
 */
function inferenceCall(
  { auth }: Pick<RouteDeps, 'auth'>,
  { req, res, state: call }: Exchange,
  body: Buffer,
  waitedSince: number,
): InferenceCall {
  return {
    id: call.id,
    route: call.route.id,
    path: call.target.path,
    tier: call.caller.tier,
    req,
    caller: readCallerInfo(req.headers, auth.address(call.auth)),
    res,
    body,
    bodyIndex: undefined,
    receivedAt: call.receivedAt,
    overheadSince: performance.now() - (waitedSince - call.receivedAt),
  };
}
