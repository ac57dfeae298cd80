import type { Semaphore } from '../../../lib/async/semaphore.ts';
import { readSpeechMetadata, type SpeechMetadata } from '../../../models/speech-metadata.ts';
import type { WorkerHealth, WorkerInfo } from '../protocol.ts';
import { Refusal } from '../refusal.ts';
import { requestLimit, statsOf } from '../request-limit.ts';
import { recogniserConfig } from '../speech/native-config.ts';
import { type NativeRecogniser, sherpa } from '../speech/sherpa.ts';
import { soundInfo } from '../speech/speaker.ts';
import type { SpeechConfig } from '../speech-config.ts';
import type { Segment, Transcript } from './result.ts';
import { type AudioSegment, Segmenter } from './segmenter.ts';
import type { Sound } from './wav.ts';
import { type TimedTokens, type Word, wordsOf } from './words.ts';

/** Callers that may wait for the native library. Each already holds a permit as a request. */
const NATIVE_QUEUE = 1_024;
/** Segments are padded with silence to this length in seconds, because some models require it. */
const MIN_SEGMENT_S = 0.5;
/** Maximum length of a recording in seconds. */
const MAX_RECORDING_S = 24 * 3600;

/** A speech recogniser. */
export class Recogniser {
  readonly info: WorkerInfo;
  /** Languages that can be requested. Empty when a requested language has no effect. */
  readonly languages: readonly string[];
  readonly #found: SpeechMetadata;
  readonly #native: NativeRecogniser;
  readonly #threads: number;
  readonly #permits: Semaphore;
  /** The library uses all its threads for one segment, and the language is a setting of the whole library. */
  readonly #nativeTurn = requestLimit(1, NATIVE_QUEUE);
  /** The language of a model that knows no other. */
  readonly #onlyLanguage: string | null;
  #language: string | null = null;

  constructor(native: NativeRecogniser, found: SpeechMetadata, config: SpeechConfig) {
    this.#native = native;
    this.#found = found;
    this.#threads = config.threads;
    this.info = soundInfo(config, found.family, found.sizeBytes);
    this.#onlyLanguage = found.family === 'whisper' && found.languages.length === 0 ? 'en' : null;
    this.languages = this.#onlyLanguage === null ? found.languages : [this.#onlyLanguage];
    this.#permits = requestLimit(config.parallel, config.queueLimit);
  }

  /**
   * Waits for its turn, then recognises a recording and reports each segment. Throws 429 when the queue is
   * full, the errors of the audio source, and the signal's reason after a disconnect.
   */
  async recognise(
    sounds: AsyncIterable<Sound>,
    language: string | null,
    signal: AbortSignal,
    onSegment: (segment: Segment) => Promise<void>,
  ): Promise<Transcript> {
    return this.#permits.run(signal, async () => {
      const segments: Segment[] = [];
      let segmenter: Segmenter | null = null;
      let spoken = language ?? this.#onlyLanguage;
      const transcribeAll = async (stretches: Iterable<AudioSegment>, rate: number) => {
        for (const stretch of stretches) {
          const result = await this.#decode(stretch, rate, language, signal);
          const { language: found, ...output } = result;
          spoken ??= found;
          const segment = { start: stretch.start, end: stretch.end, ...output };
          segments.push(segment);
          if (segment.text !== '') await onSegment(segment);
        }
      };
      let rate = 0;
      for await (const sound of sounds) {
        signal.throwIfAborted();
        rate = sound.rate;
        segmenter ??= new Segmenter(rate);
        await transcribeAll(segmenter.push(sound.samples), rate);
        if (segmenter.seconds > MAX_RECORDING_S) throw tooLong();
      }
      if (segmenter !== null) await transcribeAll(segmenter.flush(), rate);
      return { segments, duration: segmenter?.seconds ?? 0, language: spoken };
    });
  }

  stats(): Omit<WorkerHealth, 'status'> {
    return statsOf(this.#permits);
  }

  async #decode(
    { samples, silent, start, end }: AudioSegment,
    rate: number,
    language: string | null,
    signal: AbortSignal,
  ): Promise<Omit<Segment, 'start' | 'end'> & { language: string | null }> {
    if (silent) return { text: '', language: null };
    return this.#nativeTurn.run(signal, async () => {
      this.#setLanguage(language);
      const stream = this.#native.createStream();
      stream.acceptWaveform({ samples: atLeast(samples, Math.ceil(MIN_SEGMENT_S * rate)), sampleRate: rate });
      const decoded = await this.#native.decodeAsync(stream);
      const { text = '', lang = '' } = decoded;
      const words = timedWords(decoded, start, end);
      const found = /[a-z]{2,3}/.exec(lang)?.[0] ?? null;
      return {
        text: text.trim(),
        language: found,
        words,
        logProbability: meanOf(decoded.ys_log_probs ?? []),
      };
    });
  }

  #setLanguage(language: string | null): void {
    if (this.#found.languages.length === 0 || language === this.#language) return;
    this.#native.setConfig(recogniserConfig(this.#found, this.#threads, language));
    this.#language = language;
  }
}

/** Returns the words of a segment. The model may place the last ones in the silence after a short segment. */
function timedWords(decoded: TimedTokens, start: number, end: number): Word[] | null {
  const words = wordsOf(decoded, start, Math.max(end, start + MIN_SEGMENT_S));
  return (
    words?.map((word) => ({ ...word, start: Math.min(word.start, end), end: Math.min(word.end, end) })) ??
    null
  );
}

/** Returns the mean of log probabilities; null without any. */
function meanOf(values: readonly number[]): number | null {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Number.isFinite(mean) ? mean : null;
}

const tooLong = () =>
  new Refusal('request.too_large', 'The recording is longer than a day.', { status: 413, param: 'file' });

function atLeast(samples: Float32Array, length: number): Float32Array {
  if (samples.length >= length) return samples;
  const longer = new Float32Array(length);
  longer.set(samples);
  return longer;
}

/**
 * Loads the recogniser in the folder `config.modelPath`. Rejects with a one-line Error that names the faulty
 * file.
 */
export async function loadRecogniser(config: SpeechConfig): Promise<Recogniser> {
  const found = await readSpeechMetadata(config.modelPath);
  if (found.type !== 'stt') throw new Error('the folder contains a voice, not a speech-to-text model');
  const native = await sherpa()
    .OfflineRecognizer.createAsync(recogniserConfig(found, config.threads, null))
    .catch(() => {
      throw new Error(`the ${found.family} model could not be loaded; its files do not fit together`);
    });
  return new Recogniser(native, found, config);
}
