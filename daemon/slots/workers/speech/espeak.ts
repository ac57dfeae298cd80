import type { Readable } from 'node:stream';
import type { Semaphore } from '../../../lib/async/semaphore.ts';
import { alignToSamples } from '../../../lib/media/pcm.ts';
import { streamCommand } from '../../../lib/process/stream-command.ts';
import { ESPEAK_VOICE, espeakVoices, findEspeak } from '../../../models/espeak-voices.ts';
import type { WorkerInfo } from '../protocol.ts';
import { requestLimit, statsOf } from '../request-limit.ts';
import type { SpeechConfig } from '../speech-config.ts';
import {
  type Speaker,
  type SpeechChunk,
  type SpeechJob,
  soundInfo,
  type Voice,
  voiceIndex,
} from './speaker.ts';

/** Words per minute at speed 1, and the program's minimum and maximum. */
const DEFAULT_WORDS_PER_MINUTE = 175;
const MIN_WORDS_PER_MINUTE = 80;
const MAX_WORDS_PER_MINUTE = 450;
/** Size of the WAV header. */
const HEAD_BYTES = 44;
const RATE_AT = 24;

/** Converts a speed to the program's argument. */
export const wordsPerMinute = (speed: number): number =>
  Math.min(
    MAX_WORDS_PER_MINUTE,
    Math.max(MIN_WORDS_PER_MINUTE, Math.round(DEFAULT_WORDS_PER_MINUTE * speed)),
  );

/** Returns the audio in the program's output, without the WAV header. */
async function* soundOf(output: Readable): AsyncGenerator<{ rate: number; pcm: Buffer }> {
  let head: Buffer = Buffer.alloc(0);
  let rate = 0;
  for await (const bytes of alignToSamples(output)) {
    if (rate > 0) yield { rate, pcm: bytes };
    else {
      head = Buffer.concat([head, bytes]);
      if (head.length <= HEAD_BYTES) continue;
      rate = head.readUInt32LE(RATE_AT);
      yield { rate, pcm: head.subarray(HEAD_BYTES) };
    }
  }
}

class Espeak implements Speaker {
  readonly info: WorkerInfo;
  readonly voices: readonly Voice[];
  readonly #program: string;
  readonly #permits: Semaphore;

  constructor(program: string, config: SpeechConfig, voices: readonly Voice[]) {
    this.#program = program;
    this.info = soundInfo(config, 'espeak-ng', 0, 1);
    this.voices = voices;
    this.#permits = requestLimit(config.parallel, config.queueLimit);
  }

  async speak(
    order: SpeechJob,
    signal: AbortSignal,
    take: (spoken: SpeechChunk) => Promise<void>,
  ): Promise<void> {
    const own = this.voices.findIndex(({ id }) => id === ESPEAK_VOICE);
    const voice = this.voices[voiceIndex(this.voices, order.voice, Math.max(0, own))];
    await this.#permits.run(signal, () => this.#run(order, voice?.id ?? ESPEAK_VOICE, signal, take));
  }

  stats(): ReturnType<Speaker['stats']> {
    return statsOf(this.#permits);
  }

  async dispose(): Promise<void> {}

  /** Runs one process per request. It ends when the caller disconnects. */
  async #run(
    order: SpeechJob,
    voice: string,
    signal: AbortSignal,
    take: (spoken: SpeechChunk) => Promise<void>,
  ): Promise<void> {
    const speed = String(wordsPerMinute(order.speed));
    const args = ['--stdin', '--stdout', '-b', '1', '-v', voice, '-s', speed];
    const run = streamCommand(this.#program, args, { input: 'pipe', signal });
    try {
      run.input?.end(order.text);
      let held: Omit<SpeechChunk, 'last'> | null = null;
      for await (const sound of soundOf(run.output)) {
        if (held !== null) await take({ ...held, last: false });
        held = sound;
      }
      signal.throwIfAborted();
      const { code } = await run.ended;
      if (code !== 0 || held === null) throw new Error('espeak-ng ended without speech');
      await take({ ...held, last: true });
    } finally {
      run.kill();
    }
  }
}

/**
 * Opens the program at `config.modelPath`, or searches for it on this machine. Rejects with a one-line Error
 * when it is missing.
 */
export async function openEspeak(config: SpeechConfig): Promise<Speaker> {
  const program = config.modelPath === '' ? await findEspeak() : config.modelPath;
  if (program === null) throw new Error('espeak-ng is not installed');
  const voices = await espeakVoices(program);
  if (voices.length === 0) throw new Error('espeak-ng does not run, or has no voices');
  return new Espeak(program, config, voices);
}
