import { createRequire } from 'node:module';
import type { TimedTokens } from '../transcription/words.ts';

/** The native library's interface of one voice model. */
export interface NativeTts {
  readonly numSpeakers: number;
  readonly sampleRate: number;
  /** Generates one piece of speech outside the event loop. Rejects when nothing in the text can be spoken. */
  generateAsync(order: {
    text: string;
    sid: number;
    speed: number;
    /** False: the samples are owned by the caller. */
    enableExternalBuffer: boolean;
  }): Promise<{ samples: Float32Array; sampleRate: number }>;
}

export interface NativeStream {
  acceptWaveform(sound: { samples: Float32Array; sampleRate: number }): void;
}

/** The native library's interface of one recogniser. */
export interface NativeRecogniser {
  createStream(): NativeStream;
  /** Runs outside the event loop. */
  decodeAsync(
    stream: NativeStream,
  ): Promise<{ text?: string; lang?: string; ys_log_probs?: readonly number[] } & TimedTokens>;
  /** Applies to streams decoded after this call. */
  setConfig(config: object): void;
}

interface Sherpa {
  readonly OfflineTts: { createAsync(config: object): Promise<NativeTts> };
  readonly OfflineRecognizer: { createAsync(config: object): Promise<NativeRecogniser> };
}

/** Loads the native library. Throws a one-line Error when there is none for this machine. */
export function sherpa(): Sherpa {
  try {
    return createRequire(import.meta.url)('sherpa-onnx-node') as Sherpa;
  } catch {
    throw new Error('the speech library sherpa-onnx-node cannot be loaded on this machine');
  }
}
