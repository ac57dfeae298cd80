/** whisper.cpp's server with the real weights of Whisper, on speech of a real Piper voice: words, probabilities and memory. */
import { linkSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SlotPlanView } from '../../../daemon/contract/slots.ts';
import { proportionalTreeMemory } from '../../../daemon/lib/process/process-memory.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { newHome } from '../../../daemon/test/harness/home.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openaiClient } from '../../../daemon/test/harness/openai.ts';
import { slot } from '../../../daemon/test/harness/slots.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';
import { piperVoice, speak } from '../harness/piper-voice.ts';
import { humWav, joinedWav, noiseWav, SENTENCES, wordsOf } from '../harness/recordings.ts';
import { availableOrSkip } from '../harness/unavailable.ts';
import { whisperGgml } from '../harness/whisper-ggml.ts';
import { WHISPER_BASE, WHISPER_TINY_EN } from '../harness/whisper-weights.ts';

const MINUTE = 60_000;
const MIB = 1024 ** 2;
const LIMIT_MS = 8 * MINUTE;
/** More than the window of 30 s. */
const REPEATS = 5;
const SLOTS = { tiny: WHISPER_TINY_EN, base: WHISPER_BASE };
const NOISE_S = 8;
/** Threads of ggml wait for each other in a loop, which takes minutes on a busy machine. */
const ONE_THREAD = 'extra_args = ["-t", "1"]\n';

type Segment = OpenAI.Audio.TranscriptionSegment;

const marks = ({ avg_logprob, no_speech_prob }: Segment): readonly number[] => [avg_logprob, no_speech_prob];

const program = part('whisper-server');
const prepared =
  program === null
    ? null
    : await availableOrSkip('whisper-server with real weights', async () => ({
        voice: await piperVoice(),
        tiny: await whisperGgml(WHISPER_TINY_EN),
        base: await whisperGgml(WHISPER_BASE),
      }));

describe.skipIf(prepared === null)('whisper-server with real weights', () => {
  const gateway = new OneGateway(() => {
    const home = newHome();
    const folder = join(home, 'whisper');
    mkdirSync(folder, { recursive: true });
    const slotFile = (name: 'tiny' | 'base') => {
      const source = prepared?.[name] ?? '';
      const path = join(folder, basename(source));
      linkSync(source, path);
      return `type = "stt"\nengine = "whisper-server"\ndevice = "cpu"\ncommand = ${JSON.stringify([program])}\nmodel = ${JSON.stringify(path)}\n${ONE_THREAD}`;
    };
    return startGateway({
      home,
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        'config/slots/tiny.toml': slotFile('tiny'),
        'config/slots/base.toml': slotFile('base'),
      },
    });
  });
  let openai: OpenAI;
  let spoken: Buffer<ArrayBuffer>[];
  /** Bytes by slot before the first load. */
  const estimates = new Map<string, number>();
  beforeAll(async () => {
    openai = openaiClient(gateway, { timeout: LIMIT_MS });
    for (const name of Object.keys(SLOTS)) {
      const { need } = (await send(gateway, 'GET', `/api/slots/${name}/plan`)).json<SlotPlanView>();
      if (need.source === 'estimated') estimates.set(name, need.total);
    }
    spoken = await speak(prepared?.voice ?? '', SENTENCES);
  }, LIMIT_MS);

  async function segmentsOf(model: string, file: File): Promise<{ text: string; segments: Segment[] }> {
    const answer = await openai.audio.transcriptions.create({ file, model, response_format: 'verbose_json' });
    return { text: answer.text, segments: answer.segments ?? [] };
  }
  it.each(Object.keys(SLOTS))(
    '%s writes every word of three sentences, and its probabilities mark noise',
    async (model) => {
      const speech: Segment[] = [];
      for (const [index, sentence] of SENTENCES.entries()) {
        const { text, segments } = await segmentsOf(model, joinedWav([spoken[index] as Buffer]).file);
        expect(wordsOf(text)).toEqual(wordsOf(sentence));
        expect(segments).not.toEqual([]);
        speech.push(...segments);
      }
      for (const { avg_logprob, no_speech_prob } of speech) {
        expect(avg_logprob).toBeLessThan(0);
        expect(no_speech_prob).toBeGreaterThanOrEqual(0);
        expect(no_speech_prob).toBeLessThan(0.1);
      }
      const least = Math.min(...speech.map(({ avg_logprob }) => avg_logprob));
      for (const noise of [humWav(NOISE_S), noiseWav(NOISE_S, 0.006), noiseWav(NOISE_S, 0.1)]) {
        const { text, segments } = await segmentsOf(model, noise);
        console.info(`whisper-server ${model}: noise is ${JSON.stringify(segments.map(marks))}`);
        // Whisper names sounds in brackets.
        expect(wordsOf(text.replaceAll(/\[[^\]]*\]|\([^)]*\)/g, ''))).toEqual([]);
        for (const { avg_logprob, no_speech_prob } of segments) {
          expect(avg_logprob).toBeLessThan(least);
          // The multilingual base finds speech in some noises.
          expect(no_speech_prob).toBeGreaterThan(model === 'tiny' ? 0.5 : 0);
        }
      }
    },
    LIMIT_MS,
  );

  it.each(Object.keys(SLOTS))(
    'the estimate of %s is within -5 and +25 percent of the memory after a recording of 45 s',
    async (model) => {
      const { file } = joinedWav(Array.from({ length: REPEATS }, () => spoken).flat());
      const { text } = await segmentsOf(model, file);
      expect(wordsOf(text)).toEqual(Array.from({ length: REPEATS }, () => SENTENCES.flatMap(wordsOf)).flat());
      const measured =
        (await proportionalTreeMemory(Number((await slot(gateway, model)).pid)))?.resident ?? 0;
      const estimated = estimates.get(model) ?? 0;
      console.info(
        `whisper-server ${model}: estimated ${Math.round(estimated / MIB)} MiB, measured ${Math.round(measured / MIB)} MiB`,
      );
      expect(estimated / measured).toBeGreaterThan(0.95);
      expect(estimated / measured).toBeLessThan(1.25);
    },
    LIMIT_MS,
  );
});
