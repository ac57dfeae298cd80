import { GatewayError } from '../contract/errors.ts';
import type { OutboundBody } from '../lib/net/outbound.ts';
import { maskedFailure } from './audio/mask.ts';
import { receiveForm } from './audio/received-form.ts';
import { prepareSpeech, readSpeech } from './audio/speech-task.ts';
import type { SpoolStore } from './audio/spool-store.ts';
import { transcriptEvents } from './audio/transcript-events.ts';
import type { CallContext } from './call.ts';
import type { Connection } from './connect.ts';
import { judgeCount } from './dialects/cannot-count.ts';
import type { Decision } from './dispatch/dispatch.ts';
import type { RoutingSources } from './dispatch/routing-view.ts';
import { prepareEmbeddings, readEmbeddings } from './embeddings/embedding-task.ts';
import type { CallScope } from './forward/call-scope.ts';
import type { EffortFallback, EffortRequest } from './forward/effort-support.ts';
import { type EngineFailure, judgeWithParam, type Verdict } from './forward/engine-error.ts';
import type { Sink } from './forward/exchange.ts';
import { prepareImage, readImage, serveImage } from './images/image-task.ts';
import { prepareRerank, readRerank, rerankPath } from './rerank/rerank-task.ts';
import {
  type BodyIndex,
  fieldOf,
  invalid,
  modelOf,
  scanBody,
  TRANSLATED_NAMES,
  wantsStream,
} from './rewrite/body-index.ts';
import type { BodyContext } from './rewrite/body-rule.ts';
import { rewriteChat, rewriteModel } from './rewrite/deviations.ts';
import { effortOf } from './rewrite/effort.ts';
import { wantsOmni } from './rewrite/omni.ts';
import type { InferenceCall } from './serve.ts';

/** What a route reads from its body before dispatch. */
export interface ParsedRequest {
  /** The `model` of the caller, or what is looked for in its place; null when omitted. */
  readonly model: string | null;
  /** The name as the caller wrote it, where another one is looked for. */
  readonly requestedName?: string;
  readonly stream: boolean;
  /** The caller opted into the tool loop. */
  readonly omni: boolean;
  /** The effort of a chat that was made from a request of another API; null or undefined when it asks for none. */
  readonly effort?: Pick<EffortRequest, 'effort' | 'tools'> | null;
  /** It was refused as it was asked for, and is told like this. */
  readonly effortFallback?: EffortFallback;
  /** The body for the engine, once the target and the id that it answers to are known. */
  body(
    target: Pick<BodyContext, 'local' | 'origin' | 'upstream' | 'effortFallback' | 'thinkingDefault'>,
    model: string | null,
  ): OutboundBody;
  /** The call is over: what was kept for it is let go. */
  dispose?(): void;
}

/** What reading a body may need beside the call. */
export interface ParseContext {
  readonly scope: CallScope;
  readonly deps: { readonly spools: SpoolStore; readonly sources: RoutingSources };
}

/** What was decided for a call once its target was known, and before that was loaded. */
export interface PreparedRequest {
  /** The body for the engine, once the connection and the id that it answers to are known. */
  body(target: Connection, model: string | null): OutboundBody;
  /** What the engine's answer flows through; null when it goes on as it is. */
  sink(target: Connection): PreparedSink | null;
}

export interface PreparedSink extends Sink {
  /** Resolves when the caller has the whole answer, rejects with what went wrong. */
  readonly settled: Promise<void>;
  dispose(): void;
}

/** What is particular to one kind of route; everything else is the same walk for all. */
export interface TaskRow {
  read(call: InferenceCall, ctx: ParseContext): ParsedRequest | Promise<ParsedRequest>;
  /** The body stays as it was sent, also where it is no JSON. */
  readonly verbatim?: boolean;
  /** Its event streams say when they are whole, by `[DONE]` or by a finish reason. */
  readonly hasEndMarker?: boolean;
  /** It counts tokens, which not every upstream can. */
  readonly counts?: boolean;
  judge?(failure: EngineFailure): Verdict;
  /** A whole answer as the events of a stream that has begun meanwhile; null for what cannot be told so. */
  asEvents?(bytes: Buffer): string | null;
  /** Where this engine serves it, when not under the path of the route. */
  path?(target: Pick<Connection, 'countPath' | 'teiRerank'>): string | undefined;
  /** Looks at the target before it is loaded; throws a GatewayError for what it can't do. */
  readonly prepare?: (
    ctx: CallContext,
    reading: ParsedRequest,
    decision: Decision,
  ) => Promise<PreparedRequest>;
  /** Makes the answer by itself, in the place of passing the engine's on; throws while its head is not out. */
  readonly serve?: (
    ctx: CallContext,
    reading: ParsedRequest,
    connection: Connection,
    decision: Decision,
  ) => Promise<void>;
}

const plain = (index: BodyIndex, model: string | null, body: ParsedRequest['body']): ParsedRequest => ({
  model,
  stream: wantsStream(index),
  omni: false,
  body,
});

/** What the rules may look at of a target, which is a connection with much else. */
const contextOf = (
  index: BodyIndex,
  history: InferenceCall['history'],
  target: Parameters<ParsedRequest['body']>[0],
): BodyContext => ({
  index,
  history,
  local: target.local,
  origin: target.origin,
  upstream: target.upstream,
  effortFallback: target.effortFallback,
  thinkingDefault: () => target.thinkingDefault(),
});

function readChat({ body, bodyIndex: seen, translated, history }: InferenceCall): ParsedRequest {
  const index = seen?.bytes === body ? seen : scanBody(body, translated ? TRANSLATED_NAMES : undefined);
  if (fieldOf(index, 'messages')?.kind !== 'array') throw invalid('messages', 'must be an array');
  const asked = modelOf(index);
  const rewritten: ParsedRequest['body'] = (target, model) =>
    rewriteChat(contextOf(index, history, target), asked, model);
  const effort = translated ? effortOf(index) : null;
  return { model: asked, stream: wantsStream(index), omni: wantsOmni(index), effort, body: rewritten };
}

/** Completions: no schema; only a `model` that is there is spliced. */
function readCompletions({ body }: InferenceCall): ParsedRequest {
  const index = scanBody(body);
  const asked = modelOf(index);
  return plain(index, asked, (_, model) => rewriteModel(index, asked, asked === null ? null : model));
}

/** Transcriptions: the raw multipart bytes go on unchanged; the model is read from them as they come. */
async function readTranscription({ req, receive }: InferenceCall, ctx: ParseContext): Promise<ParsedRequest> {
  if (receive === undefined) throw new Error('a transcription is received, not read');
  const source = {
    contentType: req.headers['content-type'] ?? '',
    declaredBytes: Number(req.headers['content-length'] ?? Number.NaN),
    receive,
    failed: (reason: Error) => {
      if (reason instanceof GatewayError) ctx.scope.end(reason);
    },
  };
  const { fields, body, dispose } = await receiveForm(source, ctx.deps.spools, ctx.scope.signal);
  try {
    const { model, stream } = fields;
    if (model === null) throw new GatewayError('request.missing_model', { param: 'model' });
    return { model, stream, omni: false, body: () => body, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

export const TASKS = {
  chat: { read: readChat, hasEndMarker: true },
  count: { read: readChat, counts: true, judge: judgeCount, path: ({ countPath }) => countPath },
  completions: { read: readCompletions, hasEndMarker: true },
  embeddings: { read: readEmbeddings, prepare: prepareEmbeddings, judge: judgeWithParam('input') },
  rerank: { read: readRerank, prepare: prepareRerank, judge: judgeWithParam('documents'), path: rerankPath },
  speech: { read: readSpeech, prepare: prepareSpeech },
  transcriptions: {
    read: readTranscription,
    verbatim: true,
    judge: maskedFailure,
    asEvents: transcriptEvents,
  },
  images: { read: readImage, prepare: prepareImage, serve: serveImage },
} as const satisfies Record<string, TaskRow>;
export type TaskName = keyof typeof TASKS;
