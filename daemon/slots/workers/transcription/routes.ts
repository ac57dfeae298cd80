import type { EventStream } from '../event-stream.ts';
import type { RequestContext, Routes } from '../http-server.ts';
import type { LoadedService } from '../lifecycle.ts';
import { modelList } from '../llama/model-list.ts';
import type { SpeechConfig } from '../speech-config.ts';
import type { Recogniser } from './recognizer.ts';
import { type TranscriptionRequest, transcriptionRequest } from './request.ts';
import { resultBody, type Segment, separatorBetween, textOf } from './result.ts';
import { soundOf } from './sound.ts';
import { readUpload, type Upload } from './upload.ts';

/** Sends the whole transcript. */
async function whole(
  recogniser: Recogniser,
  upload: Upload,
  request: TranscriptionRequest,
  exchange: RequestContext,
): Promise<void> {
  const { signal } = exchange;
  const transcript = await recogniser.recognise(
    soundOf(upload, signal),
    request.language,
    signal,
    async () => {},
  );
  const { type, body } = resultBody(transcript, request.format, request.words);
  exchange.text(type, body);
}

/**
 * Sends OpenAI's events: each segment when recognised, then the whole text. Omits usage, because these events
 * support only tokens and these models count seconds.
 */
async function streamed(
  recogniser: Recogniser,
  upload: Upload,
  request: TranscriptionRequest,
  exchange: RequestContext,
): Promise<void> {
  const { signal } = exchange;
  const segments: Segment[] = [];
  const state: { events: EventStream | null } = { events: null };
  const send = async (segment: Segment) => {
    state.events ??= exchange.events();
    const delta = separatorBetween(textOf(segments), segment.text) + segment.text;
    segments.push(segment);
    await state.events.send({ type: 'transcript.text.delta', delta });
  };
  try {
    await recogniser.recognise(soundOf(upload, signal), request.language, signal, send);
    const events = state.events ?? exchange.events();
    await events.send({ type: 'transcript.text.done', text: textOf(segments) });
    events.end();
  } catch (error) {
    if (state.events === null) throw error;
    state.events.fail(error);
  }
}

async function transcribe(recogniser: Recogniser, exchange: RequestContext): Promise<void> {
  const upload = await readUpload(exchange.request);
  try {
    const request = transcriptionRequest(upload.fields, recogniser.languages);
    await (request.stream ? streamed : whole)(recogniser, upload, request, exchange);
  } finally {
    await upload.close();
  }
}

function routes(recogniser: Recogniser, config: SpeechConfig): Routes {
  const created = Math.floor(Date.now() / 1000);
  return {
    'GET /v1/models': async (exchange) => exchange.json(200, modelList(recogniser.info, config, created)),
    'POST /v1/audio/transcriptions': (exchange) => transcribe(recogniser, exchange),
  };
}

/** Routes of a transcription worker. */
export const transcriptionService = (recogniser: Recogniser, config: SpeechConfig): LoadedService => ({
  info: recogniser.info,
  routes: routes(recogniser, config),
  stats: () => recogniser.stats(),
  dispose: async () => {},
});
