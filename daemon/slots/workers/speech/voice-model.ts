import type { Semaphore } from '../../../lib/async/semaphore.ts';
import { toPcm16 } from '../../../lib/media/pcm.ts';
import { speakable } from '../../../lib/text/speakable.ts';
import { readSpeechMetadata, type SpeechMetadata } from '../../../models/speech-metadata.ts';
import type { WorkerInfo } from '../protocol.ts';
import { invalidField } from '../refusal.ts';
import { requestLimit, statsOf } from '../request-limit.ts';
import type { SpeechConfig } from '../speech-config.ts';
import { voiceConfig } from './native-config.ts';
import { pieces } from './pieces.ts';
import { withVoiceFiles } from './piper-files.ts';
import { type NativeTts, sherpa } from './sherpa.ts';
import {
  type Speaker,
  type SpeechChunk,
  type SpeechJob,
  soundInfo,
  type Voice,
  voiceIndex,
} from './speaker.ts';

/** Callers that may wait for the native library. Each already holds a permit as a request. */
const NATIVE_QUEUE = 1_024;

class VoiceModel implements Speaker {
  readonly info: WorkerInfo;
  readonly voices: readonly Voice[];
  readonly #native: NativeTts;
  readonly #permits: Semaphore;
  /** How long the voice speaks at normal speed, relative to the library's. */
  readonly #lengthScale: number;
  /** The library uses all its threads for one piece: two at once would compete for them. */
  readonly #nativeTurn = requestLimit(1, NATIVE_QUEUE);

  constructor(native: NativeTts, found: SpeechMetadata, config: SpeechConfig) {
    this.#native = native;
    this.info = soundInfo(config, found.family, found.sizeBytes);
    this.voices = found.voices.map((id) => ({ id, name: id }));
    this.#lengthScale = found.inference?.lengthScale ?? 1;
    this.#permits = requestLimit(config.parallel, config.queueLimit);
  }

  async speak(
    order: SpeechJob,
    signal: AbortSignal,
    take: (spoken: SpeechChunk) => Promise<void>,
  ): Promise<void> {
    const sid = voiceIndex(this.voices, order.voice, 0);
    const all = [...pieces(order.text)];
    await this.#permits.run(signal, async () => {
      let hasSound = false;
      for (const [index, text] of all.entries()) {
        const pcm = await this.#synthesize(text, sid, order.speed / this.#lengthScale, signal);
        const last = index === all.length - 1;
        if (pcm.length === 0 && !(last && hasSound)) continue;
        await take({ rate: this.#native.sampleRate, pcm, last });
        hasSound = true;
      }
      if (!hasSound) throw invalidField('input', 'input: contains nothing that this voice can speak');
    });
  }

  stats(): ReturnType<Speaker['stats']> {
    return statsOf(this.#permits);
  }

  async dispose(): Promise<void> {}

  /** Returns the audio of one piece. Empty when the voice knows none of its characters. */
  async #synthesize(text: string, sid: number, speed: number, signal: AbortSignal): Promise<Buffer> {
    if (!speakable(text)) return Buffer.alloc(0);
    return this.#nativeTurn.run(signal, async () => {
      const order = { text, sid, speed, enableExternalBuffer: false };
      const sound = await this.#native.generateAsync(order).catch((error: Error) => {
        if (/no audio/i.test(error.message)) return null;
        throw error;
      });
      return sound === null ? Buffer.alloc(0) : toPcm16(sound.samples);
    });
  }
}

/**
 * Loads the voice at `config.modelPath`, a folder or a file of Piper. Rejects with a one-line Error that names the faulty file.
 */
export async function loadVoice(config: SpeechConfig): Promise<Speaker> {
  const found = await readSpeechMetadata(config.modelPath);
  if (found.type !== 'tts') throw new Error('the folder contains a speech-to-text model, not a voice');
  const native = await withVoiceFiles(found, (files) =>
    sherpa()
      .OfflineTts.createAsync(voiceConfig(files, config.threads))
      .catch(() => {
        throw new Error(`the ${found.family} voice could not be loaded; its files do not fit together`);
      }),
  );
  return new VoiceModel(native, found, config);
}
