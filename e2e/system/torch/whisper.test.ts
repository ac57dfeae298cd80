/** Whisper with its real weights in the embedded engine, on speech of a real Piper voice. Needs `--with torch`. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { UnprocessableEntityError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SlotPlanView } from '../../../daemon/contract/slots.ts';
import { fromPcm16, toPcm16 } from '../../../daemon/lib/media/pcm.ts';
import { Resampler } from '../../../daemon/lib/media/resampler.ts';
import { proportionalTreeMemory } from '../../../daemon/lib/process/process-memory.ts';
import { tinyChat } from '../../../daemon/models/testing/gguf/tiny-chat.ts';
import { SILENCE } from '../../../daemon/test/harness/any-voice-event.ts';
import { failure } from '../../../daemon/test/harness/failure.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { modelFolder, newHome } from '../../../daemon/test/harness/home.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openaiClient } from '../../../daemon/test/harness/openai.ts';
import { slots } from '../../../daemon/test/harness/slots.ts';
import { VoiceCall } from '../../../daemon/test/harness/voice-call.ts';
import { piperVoice, speak } from '../harness/piper-voice.ts';
import { joinedWav, noiseWav, SENTENCES, WAV_HEADER_BYTES, wordsOf } from '../harness/recordings.ts';
import { availableOrSkip } from '../harness/unavailable.ts';
import { WHISPER_BASE, WHISPER_TINY_EN } from '../harness/whisper-weights.ts';
import { whisperFolder } from './whisper-models.ts';

const MINUTE = 60_000;
/** The first request loads the model. */
const LIMIT_MS = 3 * MINUTE;
const VOICE = 'joe';
const MIB = 1024 ** 2;
/** Samples per second of `/v1/realtime`. */
const REALTIME_RATE = 24_000;
/** Seconds that Whisper decodes at once. */
const WINDOW_S = 30;
/** Models whose answer to everything is one of the sentences. */
const SPEAKERS = Object.fromEntries(
  SENTENCES.map((reply, index) => [`says-${index}`, tinyChat({ name: `says-${index}`, reply })]),
);

/** Returns a recording as a microphone would send it. */
function microphone(wav: Buffer): Buffer {
  const resampler = new Resampler(wav.readUInt32LE(24), REALTIME_RATE);
  const samples = fromPcm16(wav.subarray(WAV_HEADER_BYTES));
  return Buffer.concat([toPcm16(resampler.push(samples)), toPcm16(resampler.flush())]);
}

const installed = await availableOrSkip('Whisper in the embedded engine', async () => ({
  [VOICE]: await piperVoice(),
  [WHISPER_TINY_EN.name]: await whisperFolder(WHISPER_TINY_EN),
  [WHISPER_BASE.name]: await whisperFolder(WHISPER_BASE),
}));

/** How often the sentences are repeated in the long recording. */
const REPEATS = 5;

describe.skipIf(installed === null)('Whisper in the embedded engine', () => {
  const gateway = new OneGateway(() => {
    const home = newHome();
    for (const [name, folder] of Object.entries(installed ?? {}))
      cpSync(folder, join(modelFolder(home), name), { recursive: true });
    return startGateway({
      home,
      models: SPEAKERS,
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        'config/slots/stt.toml': `type = "stt"\nmodel = "${WHISPER_BASE.name}"\n`,
      },
    });
  });
  let openai: OpenAI;
  let spoken: Buffer<ArrayBuffer>[];
  let recordings: File[];
  /** Longer than the window of 30 s. */
  let long: { file: File; ends: number[] };
  /** Bytes by model before the first load. */
  const estimates = new Map<string, number>();
  beforeAll(async () => {
    openai = openaiClient(gateway, { timeout: LIMIT_MS });
    for (const { name, model } of await slots(gateway)) {
      const { need } = (await send(gateway, 'GET', `/api/slots/${name}/plan`)).json<SlotPlanView>();
      if (model !== null && need.source === 'estimated') estimates.set(model, need.total);
    }
    spoken = await speak(installed?.[VOICE] ?? '', SENTENCES);
    long = joinedWav(Array.from({ length: REPEATS }, () => spoken).flat());
    recordings = spoken.map((wav) => new File([wav], 'spoken.wav'));
  }, LIMIT_MS);

  type Options = Omit<OpenAI.Audio.TranscriptionCreateParamsNonStreaming, 'file' | 'model'>;
  const transcribe = (index: number, options: Options = {}, model = WHISPER_BASE.name) =>
    openai.audio.transcriptions.create({ file: recordings[index] as File, model, ...options });

  it.each(SENTENCES.map((sentence, index) => [sentence, index] as const))(
    'base writes every word of: %s',
    async (sentence, index) => {
      const { text } = await transcribe(index);
      expect(wordsOf(text)).toEqual(wordsOf(sentence));
    },
    LIMIT_MS,
  );

  it(
    'tiny.en writes every word',
    async () => {
      for (const [index, sentence] of SENTENCES.entries()) {
        const { text } = await transcribe(index, { language: 'en' }, WHISPER_TINY_EN.name);
        expect(wordsOf(text)).toEqual(wordsOf(sentence));
      }
    },
    LIMIT_MS,
  );

  it.each(['en', 'EN', 'en-US', 'english', 'English', 'auto'])(
    'the language can be %s',
    async (language) => {
      const { text } = await transcribe(0, { language });
      expect(wordsOf(text)).toEqual(wordsOf(SENTENCES[0] ?? ''));
    },
    LIMIT_MS,
  );

  it(
    'an unsupported language is refused with its name',
    async () => {
      const error = await failure(transcribe(0, { language: 'klingon' }), UnprocessableEntityError);
      expect([error.status, error.code, error.param]).toEqual([422, 'request.invalid', 'language']);
      expect(error.message).toContain('language: this model supports en, zh, de,');
    },
    LIMIT_MS,
  );

  it(
    'the voice of the gateway speaks as its settings say, the same each time, and every word is written',
    async () => {
      const speakOnce = async (input: string) => {
        const order = { model: VOICE, voice: 'default', input, response_format: 'wav' } as const;
        const answer = await openai.audio.speech.create(order);
        return Buffer.from(await answer.arrayBuffer());
      };
      for (const sentence of SENTENCES) {
        const wav = await speakOnce(sentence);
        const again = await speakOnce(sentence);
        expect(Math.abs(wav.length - again.length) / wav.length).toBeLessThan(0.01);
        const file = new File([new Uint8Array(wav)], 'spoken.wav');
        const { text } = await openai.audio.transcriptions.create({ file, model: WHISPER_BASE.name });
        expect(wordsOf(text)).toEqual(wordsOf(sentence));
      }
    },
    LIMIT_MS,
  );

  it(
    'verbose_json: language, duration and segments that cover the recording',
    async () => {
      const answer = await transcribe(0, { response_format: 'verbose_json' });
      const { language, duration, segments, text } = answer as OpenAI.Audio.TranscriptionVerbose;
      expect(language).toBe('en');
      expect(duration).toBeGreaterThan(2);
      expect(duration).toBeLessThan(8);
      expect(wordsOf(text)).toEqual(wordsOf(SENTENCES[0] ?? ''));
      expect(segments?.map((each) => each.text).join(' ')).toBe(text);
      for (const { start, end } of segments ?? []) expect(end).toBeGreaterThan(start);
      expect(segments?.at(-1)?.end).toBeLessThanOrEqual(duration);
    },
    LIMIT_MS,
  );

  it.each(SENTENCES.map((sentence, index) => [sentence, index] as const))(
    'a conversation over /v1/realtime: Whisper writes every word of the voice and of the spoken reply: %s',
    async (sentence, index) => {
      const call = await VoiceCall.open(gateway, `?model=says-${index}`);
      try {
        await call.update({ audio: { input: { transcription: { model: 'stt' } } } });
        call.speak(microphone(spoken[index] as Buffer));
        call.speak(SILENCE);
        const written = await call.next('conversation.item.input_audio_transcription.completed', LIMIT_MS);
        expect(wordsOf(String(written.transcript))).toEqual(wordsOf(sentence));
        const { response } = await call.next('response.done', LIMIT_MS);
        const { id, status } = response as { id: string; status: string };
        expect(status).toBe('completed');
        const reply = call.sound(id);
        const listener = await VoiceCall.open(gateway, '?intent=transcription');
        try {
          await listener.update({ audio: { input: { turn_detection: null } } }, 'transcription');
          listener.speak(reply);
          listener.send({ type: 'input_audio_buffer.commit' });
          const repeated = await listener.next(
            'conversation.item.input_audio_transcription.completed',
            LIMIT_MS,
          );
          expect(wordsOf(String(repeated.transcript))).toEqual(wordsOf(sentence));
        } finally {
          listener.close();
        }
      } finally {
        call.close();
      }
    },
    2 * LIMIT_MS,
  );

  const longWords = () => Array.from({ length: REPEATS }, () => SENTENCES.flatMap(wordsOf)).flat();

  it(
    'stream: a long recording gives its text while it is decoded',
    async () => {
      // A piece ends at a pause of 0.3 s.
      const [first] = spoken as [Buffer];
      const header = first.subarray(0, WAV_HEADER_BYTES);
      const pause = Buffer.concat([header, Buffer.alloc(2 * Math.round(first.readUInt32LE(24) / 2))]);
      const parts = Array.from({ length: REPEATS }, () => spoken.flatMap((wav) => [wav, pause])).flat();
      const stream = await openai.audio.transcriptions.create({
        ...{ file: joinedWav(parts).file, model: WHISPER_BASE.name, stream: true },
      });
      const deltas: string[] = [];
      let active: number | undefined;
      let text = '';
      for await (const event of stream) {
        if (event.type === 'transcript.text.done') text = event.text;
        if (event.type !== 'transcript.text.delta') continue;
        deltas.push(event.delta);
        active ??= (await slots(gateway)).find(({ name }) => name === 'stt')?.active;
      }
      // The first words arrived while the model still worked.
      expect(active).toBe(1);
      expect(deltas.length).toBeGreaterThanOrEqual(3);
      expect(deltas.join('')).toBe(text);
      expect(wordsOf(text)).toEqual(longWords());
    },
    2 * LIMIT_MS,
  );

  it.each([WHISPER_BASE.name, WHISPER_TINY_EN.name])(
    '%s: each word of a recording over 30 s has a time within its sentence',
    async (model) => {
      const answer = await openai.audio.transcriptions.create({
        ...{ file: long.file, model, response_format: 'verbose_json' },
        timestamp_granularities: ['word', 'segment'],
      });
      const { words = [], duration } = answer as OpenAI.Audio.TranscriptionVerbose;
      expect(duration).toBeGreaterThan(35);
      expect(words.flatMap(({ word }) => wordsOf(word))).toEqual(longWords());
      const owner = long.ends.flatMap((end, index) =>
        wordsOf(SENTENCES[index % SENTENCES.length] ?? '').map(
          () => [long.ends[index - 1] ?? 0, end] as const,
        ),
      );
      for (const [index, { word, start, end }] of words.entries()) {
        const [from, to] = owner[index] as readonly [number, number];
        expect(start, `${word} ${index}`).toBeGreaterThan(from - 1);
        expect(end, `${word} ${index}`).toBeLessThan(to + 1);
        expect(end).toBeGreaterThanOrEqual(start);
      }
    },
    2 * LIMIT_MS,
  );

  it(
    'silence has an empty text, and between two sentences it costs no word and no time',
    async () => {
      const [first, second] = spoken as [Buffer, Buffer];
      const pause = Buffer.concat([
        first.subarray(0, WAV_HEADER_BYTES),
        Buffer.alloc(12 * 2 * first.readUInt32LE(24)),
      ]);
      const quiet = await openai.audio.transcriptions.create({
        ...{ file: joinedWav([pause]).file, model: WHISPER_BASE.name },
      });
      expect(quiet.text).toBe('');
      const { file, ends } = joinedWav([first, pause, second]);
      const answer = await openai.audio.transcriptions.create({
        ...{ file, model: WHISPER_BASE.name, response_format: 'verbose_json' },
        timestamp_granularities: ['word'],
      });
      const { text, words = [] } = answer as OpenAI.Audio.TranscriptionVerbose;
      const expected = SENTENCES.slice(0, 2).map(wordsOf);
      expect(wordsOf(text)).toEqual(expected.flat());
      const later = words.filter(({ start }) => start > (ends[0] ?? 0) + 6);
      expect(later.flatMap(({ word }) => wordsOf(word))).toEqual(expected[1]);
    },
    LIMIT_MS,
  );

  it(
    'no probability is invented: this engine reports none for Whisper',
    async () => {
      const answer = await transcribe(0, { response_format: 'verbose_json' });
      const { segments = [] } = answer as OpenAI.Audio.TranscriptionVerbose;
      expect(segments).not.toEqual([]);
      for (const segment of segments) {
        expect(segment).not.toHaveProperty('avg_logprob');
        expect(segment).not.toHaveProperty('no_speech_prob');
      }
    },
    LIMIT_MS,
  );

  it.each([WHISPER_BASE.name, WHISPER_TINY_EN.name])(
    'the estimate of %s is within -5 and +25 percent of the memory after its longest window',
    async (model) => {
      // A window is cut at a pause, unless there is none in 30 s.
      await openai.audio.transcriptions.create({ file: noiseWav(WINDOW_S + 1, 0.1), model });
      const slot = (await slots(gateway)).find((each) => each.model === model);
      const measured = (await proportionalTreeMemory(Number(slot?.pid)))?.resident ?? 0;
      const estimated = estimates.get(model) ?? 0;
      console.info(
        `${model}: estimated ${Math.round(estimated / MIB)} MiB, measured ${Math.round(measured / MIB)} MiB`,
      );
      expect(estimated / measured).toBeGreaterThan(0.95);
      expect(estimated / measured).toBeLessThan(1.25);
    },
    2 * LIMIT_MS,
  );
});
