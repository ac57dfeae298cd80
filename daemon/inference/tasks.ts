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

/** The result of parsing a request before dispatch. */
export interface ParsedRequest {
  /** The `model` of the caller, or the name to dispatch instead; null when omitted. */
  readonly model: string | null;
  /** The name as the caller wrote it, when `model` differs. */
  readonly requestedName?: string;
  readonly stream: boolean;
  /** The caller opted into the tool loop. */
  readonly omni: boolean;
  /** The effort of a chat that was translated from another API; null or undefined when it requests none. */
  readonly effort?: Pick<EffortRequest, 'effort' | 'tools'> | null;
  /** The fallback to use because the requested effort was refused. */
  readonly effortFallback?: EffortFallback;
  /** Returns the body for the engine, given the target and the model id that it accepts. */
  body(
    target: Pick<BodyContext, 'local' | 'origin' | 'upstream' | 'effortFallback' | 'thinkingDefault'>,
    model: string | null,
  ): OutboundBody;
  /** Releases the buffers after the call. */
  dispose?(): void;
}

/** What parsing a body may need besides the call. */
export interface ParseContext {
  readonly scope: CallScope;
  readonly deps: { readonly spools: SpoolStore; readonly sources: RoutingSources };
}

/** What was decided for a call once its target was known, before the target is loaded. */
export interface PreparedRequest {
  /** Returns the body for the engine, given the connection and the model id that it accepts. */
  body(target: Connection, model: string | null): OutboundBody;
  /** Returns the sink for the engine's response; null to relay it unchanged. */
  sink(target: Connection): PreparedSink | null;
}

export interface PreparedSink extends Sink {
  /** Resolves when the caller has the whole response; rejects with the failure. */
  readonly settled: Promise<void>;
  dispose(): void;
}

/** What is particular to one kind of route. All other steps are the same for every route. */
export interface TaskRow {
  read(call: InferenceCall, ctx: ParseContext): ParsedRequest | Promise<ParsedRequest>;
  /** The body is sent unchanged, even if it is not JSON. */
  readonly verbatim?: boolean;
  /** Its event streams have an end marker: `[DONE]` or a finish reason. */
  readonly hasEndMarker?: boolean;
  /** It counts tokens, which not every upstream supports. */
  readonly counts?: boolean;
  judge?(failure: EngineFailure): Verdict;
  /** Converts a complete response to the events of a stream that has begun; null when it cannot. */
  asEvents?(bytes: Buffer): string | null;
  /** Returns the path at this engine when it differs from the path of the route. */
  path?(target: Pick<Connection, 'countPath' | 'teiRerank'>): string | undefined;
  /** Checks the target before it is loaded. Throws a GatewayError for what the target cannot do. */
  readonly prepare?: (
    ctx: CallContext,
    reading: ParsedRequest,
    decision: Decision,
  ) => Promise<PreparedRequest>;
  /** Makes the response itself instead of relaying the engine's. Throws before the head is sent. */
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

/** Returns the part of a target that the rules may read. */
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

/** Parses completions: no schema; only an existing `model` is replaced. */
function readCompletions({ body }: InferenceCall): ParsedRequest {
  const index = scanBody(body);
  const asked = modelOf(index);
  return plain(index, asked, (_, model) => rewriteModel(index, asked, asked === null ? null : model));
}

/**
 * Parses transcriptions: forwards the multipart bytes unchanged and reads the model from them as they arrive.
 */
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
