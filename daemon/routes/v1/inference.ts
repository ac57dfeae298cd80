import type { Context } from 'koa';
import type { InferenceCall } from '../../inference/serve.ts';
import type { TaskName } from '../../inference/tasks.ts';
import type { RouteDeps } from '../deps.ts';
import type { Call, Handler } from '../handler.ts';

/** Reads the whole JSON body of an inference route under its cap (`http/read-body` is handed in by the pipeline). */
export type ReadBytes = (ctx: Context, call: Call) => Promise<Buffer>;

/** The inference routes that forward a JSON body: read the bytes, hand them to the dispatcher, and stand aside. */
export function inferenceRoutes(deps: RouteDeps, read: ReadBytes) {
  const run =
    (task: TaskName): Handler =>
    async (ctx, call) => {
      const body = await read(ctx, call);
      await deps.inference[task](inferenceCall(ctx, call, body));
    };
  return {
    'v1.chat': run('chat'),
    'v1.completions': run('completions'),
    'v1.embeddings': run('simple'),
    'v1.rerankings': run('simple'),
    'v1.rerank': run('simple'),
    'v1.reranking': run('simple'),
    'v1.speech': run('speech'),
    'v1.images': run('images'),
    'v1.transcriptions': run('transcriptions'),
  } satisfies Record<string, Handler>;
}

/** The picture of a call that floor 4 works on. */
function inferenceCall(ctx: Context, call: Call, body: Buffer): InferenceCall {
  return {
    id: call.id,
    route: call.route.id,
    path: call.target.path,
    tier: call.caller.tier,
    req: ctx.req,
    res: ctx.res,
    body,
    receivedAt: call.receivedAt,
  };
}
