import { GatewayError } from '../contract/errors.ts';
import { IgnoredNames } from '../contract/ignored.ts';
import { maskedFailure } from './audio/mask.ts';
import { receiveForm } from './audio/received-form.ts';
import { prepareSpeech, readSpeech, withoutSound } from './audio/speech-task.ts';
import { transcriptEvents } from './audio/transcript-events.ts';
import type { CheckModel, InferenceCall, ParseContext, ParsedRequest, TaskRow } from './call-context.ts';
import { prepareCount } from './count-task.ts';
import { judgeCount } from './dialects/unsupported-token-count.ts';
import { conversationPrefix } from './dispatch/conversation-prefix.ts';
import { prepareEmbeddings, readEmbeddings } from './embeddings/embedding-task.ts';
import { judge, judgeWithParam } from './forward/engine-error.ts';
import { prepareImage, readImage, serveImage } from './images/image-task.ts';
import { prepareRerank, readRerank, rerankPath } from './rerank/rerank-task.ts';
import { prepareScore, readScore, scorePath } from './rerank/score-task.ts';
import {
  type BodyIndex,
  choicesOf,
  fieldOf,
  invalid,
  modelOf,
  scanBody,
  TRANSLATED_NAMES,
  wantsStream,
} from './rewrite/body-index.ts';
import type { BodyContext } from './rewrite/body-rule.ts';
import { checkCalls } from './rewrite/call-arguments.ts';
import { rewriteChat, rewriteCompletion } from './rewrite/deviations.ts';
import { effortOf } from './rewrite/effort.ts';
import { wantsOmni } from './rewrite/omni.ts';
import { includesUsage } from './rewrite/stream-usage.ts';

const plain = (index: BodyIndex, model: string | null, body: ParsedRequest['body']): ParsedRequest => ({
  model,
  stream: wantsStream(index),
  includesUsage: includesUsage(index),
  choices: choicesOf(index),
  omni: false,
  body,
});

/** Returns the part of a target that the rules may read. */
const contextOf = (
  index: BodyIndex,
  history: InferenceCall['history'],
  target: Parameters<ParsedRequest['body']>[0],
  ignore: (name: string) => void,
): BodyContext => ({
  index,
  history,
  ignore,
  media: target.media === undefined ? undefined : () => target.media?.() ?? 'unknown',
  takesLaterSystem: target.takesLaterSystem,
  continuesOnRequest: target.continuesOnRequest,
  local: target.local,
  origin: target.origin,
  upstream: target.upstream,
  slot: target.slot,
  effortFallback: target.effortFallback,
  streamUsage: target.streamUsage,
  thinkingDefault: () => target.thinkingDefault(),
});

function readChat({ body, bodyIndex: known, translated, history }: InferenceCall): ParsedRequest {
  const index = known?.bytes === body ? known : scanBody(body, translated ? TRANSLATED_NAMES : undefined);
  if (fieldOf(index, 'messages')?.kind !== 'array') throw invalid('messages', 'must be an array');
  const requested = modelOf(index);
  let ignored: IgnoredNames | null = null;
  const ignore = (name: string): void => {
    ignored ??= new IgnoredNames();
    ignored.add(name);
  };
  const calls = checkCalls(index);
  // The messages of a translated chat may be replaced as a whole, and edits must not overlap.
  const callEdits = history === undefined ? calls : undefined;
  const rewritten: ParsedRequest['body'] = (target, model) => {
    ignored = null;
    return rewriteChat({ ...contextOf(index, history, target, ignore), callEdits }, requested, model);
  };
  const effort = translated ? effortOf(index) : null;
  return {
    model: requested,
    stream: wantsStream(index),
    includesUsage: includesUsage(index),
    choices: choicesOf(index),
    omni: wantsOmni(index),
    effort,
    body: rewritten,
    prefix: (model) => conversationPrefix(index, model),
    ignored: () => ignored?.names ?? [],
  };
}

/** Parses completions: no schema; only an existing `model` is replaced. */
function readCompletions({ body }: InferenceCall): ParsedRequest {
  const index = scanBody(body);
  const requested = modelOf(index);
  const rewritten: ParsedRequest['body'] = (target, model) =>
    rewriteCompletion(
      contextOf(index, undefined, target, () => {}),
      requested,
      requested === null ? null : model,
    );
  return plain(index, requested, rewritten);
}

/**
 * Parses transcriptions: forwards the multipart bytes unchanged and reads the model from them while they are received.
 */
async function readTranscription(
  { req, receive }: InferenceCall,
  ctx: ParseContext,
  check?: CheckModel,
): Promise<ParsedRequest> {
  if (receive === undefined) throw new Error('a transcription is received, not read');
  const source = {
    contentType: req.headers['content-type'] ?? '',
    receive,
    check,
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
  count: {
    read: readChat,
    prepare: prepareCount,
    counts: true,
    judge: judgeCount,
    path: ({ countPath }) => countPath,
  },
  completions: { read: readCompletions, hasEndMarker: true },
  embeddings: { read: readEmbeddings, prepare: prepareEmbeddings, judge: judgeWithParam('input') },
  rerank: { read: readRerank, prepare: prepareRerank, judge: judgeWithParam('documents'), path: rerankPath },
  score: { read: readScore, prepare: prepareScore, judge: judgeWithParam('text_2'), path: scorePath },
  speech: { read: readSpeech, prepare: prepareSpeech, soundless: withoutSound },
  transcriptions: {
    read: readTranscription,
    verbatim: true,
    // The texts of the gateway's own workers reveal nothing. Their 415 gets the details of the specification.
    judge: (failure, { isWorker }) =>
      isWorker() && failure.status !== 415 ? judge(failure) : maskedFailure(failure),
    asEvents: transcriptEvents,
  },
  images: { read: readImage, prepare: prepareImage, serve: serveImage },
} as const satisfies Record<string, TaskRow>;
export type TaskName = keyof typeof TASKS;
