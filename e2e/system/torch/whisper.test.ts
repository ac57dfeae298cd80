/** Whisper with its real weights in the embedded engine, on speech of a real Piper voice. Needs `--with torch`. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { UnprocessableEntityError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { failure } from '../../../daemon/test/harness/failure.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { modelFolder, newHome } from '../../../daemon/test/harness/home.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openaiClient } from '../../../daemon/test/harness/openai.ts';
import { availableOrSkip } from '../harness/unavailable.ts';
import { piperVoice, speak } from './piper-voice.ts';
import { WHISPER_BASE, WHISPER_TINY_EN, whisperFolder } from './whisper-models.ts';

const MINUTE = 60_000;
/** The first request loads the model. */
const LIMIT_MS = 3 * MINUTE;
const SENTENCES = [
  'Please remind me to buy milk, bread and eggs tomorrow morning.',
  'The weather in Berlin is cold and rainy today.',
  'The quick brown fox jumps over the lazy dog.',
];
const VOICE = 'joe';

const installed = await availableOrSkip('Whisper in the embedded engine', async () => ({
  [VOICE]: await piperVoice(),
  [WHISPER_TINY_EN.name]: await whisperFolder(WHISPER_TINY_EN),
  [WHISPER_BASE.name]: await whisperFolder(WHISPER_BASE),
}));

/** Words without punctuation and capitals. */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z0-9']+/g) ?? [];

describe.skipIf(installed === null)('Whisper in the embedded engine', () => {
  const gateway = new OneGateway(() => {
    const home = newHome();
    for (const [name, folder] of Object.entries(installed ?? {}))
      cpSync(folder, join(modelFolder(home), name), { recursive: true });
    return startGateway({ home, files: { 'config/slots/agent.toml': 'enabled = false\n' } });
  });
  let openai: OpenAI;
  let recordings: File[];
  beforeAll(async () => {
    openai = openaiClient(gateway, { timeout: LIMIT_MS });
    const spoken = await speak(installed?.[VOICE] ?? '', SENTENCES);
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
    'transcribes the voice of the gateway, whose speech varies slightly',
    async () => {
      const order = { model: VOICE, voice: 'default', input: SENTENCES[0] ?? '' };
      const wav = await openai.audio.speech.create({ ...order, response_format: 'wav' });
      const file = new File([new Uint8Array(await wav.arrayBuffer())], 'spoken.wav');
      const { text } = await openai.audio.transcriptions.create({ file, model: WHISPER_BASE.name });
      const understood = wordsOf(order.input).filter((word) => wordsOf(text).includes(word));
      expect(understood.length, text).toBeGreaterThanOrEqual(8);
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
});
