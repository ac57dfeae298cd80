import { GatewayError } from '../contract/errors.ts';
import type { OutboundBody } from '../kit/outbound.ts';
import { maskedFailure } from './audio/mask.ts';
import { modelField } from './audio/model-field.ts';
import type { EngineFailure, Verdict } from './forward/engine-error.ts';
import { refuseImage } from './images/checks.ts';
import {
  asksForStream,
  type BodyPicture,
  fieldOf,
  invalid,
  modelOf,
  scanBody,
} from './rewrite/body-picture.ts';
import type { BodyContext } from './rewrite/body-rule.ts';
import { rewriteChat, rewriteModel } from './rewrite/deviations.ts';
import { wantsOmni } from './rewrite/omni.ts';
import type { InferenceCall } from './serve.ts';

/** What a route reads from its body before dispatch. */
export interface Reading {
  /** The `model` of the caller; null when omitted. */
  readonly model: string | null;
  readonly stream: boolean;
  /** The caller opted into the tool loop. */
  readonly omni: boolean;
  /** The body for the engine, once the target and the id that it answers to are known. */
  body(target: Pick<BodyContext, 'local' | 'thinkingDefault'>, model: string | null): OutboundBody;
}

/** What is particular to one kind of route; everything else is the same walk for all. */
export interface TaskRow {
  read(call: InferenceCall): Reading;
  /** The body stays as it was sent, so that an alias cannot lead to somebody else's engine. */
  readonly verbatim?: boolean;
  judge?(failure: EngineFailure): Verdict;
}

const plain = (picture: BodyPicture, body: Reading['body']): Reading => ({
  model: modelOf(picture),
  stream: asksForStream(picture),
  omni: false,
  body,
});

function readChat({ body }: InferenceCall): Reading {
  const picture = scanBody(body);
  if (fieldOf(picture, 'messages')?.kind !== 'array') throw invalid('messages', 'must be an array');
  const asked = modelOf(picture);
  const rewritten: Reading['body'] = (target, model) => rewriteChat({ picture, ...target }, asked, model);
  return { ...plain(picture, rewritten), omni: wantsOmni(picture) };
}

/** Completions: no schema; only a `model` that is there is spliced. */
function readCompletions({ body }: InferenceCall): Reading {
  const picture = scanBody(body);
  const asked = modelOf(picture);
  return plain(picture, (_, model) => rewriteModel(picture, asked, asked === null ? null : model));
}

function readSimple({ body }: InferenceCall): Reading {
  const picture = scanBody(body);
  const asked = modelOf(picture);
  return plain(picture, (_, model) => rewriteModel(picture, asked, model));
}

/** Transcriptions: the raw multipart bytes go on unchanged; the model is read from them. */
function readTranscription({ body, req }: InferenceCall): Reading {
  const model = modelField(body, req.headers['content-type'] ?? '');
  if (model === null) throw new GatewayError('request.missing_model', { param: 'model' });
  return { model, stream: false, omni: false, body: () => body };
}

const readImage = ({ body }: InferenceCall): Reading => refuseImage(scanBody(body));

export const TASKS = {
  chat: { read: readChat },
  completions: { read: readCompletions },
  simple: { read: readSimple },
  speech: { read: readSimple },
  transcriptions: { read: readTranscription, verbatim: true, judge: maskedFailure },
  images: { read: readImage },
} as const satisfies Record<string, TaskRow>;
export type TaskName = keyof typeof TASKS;
