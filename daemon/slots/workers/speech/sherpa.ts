import { createRequire } from 'node:module';
import type { TimedTokens } from '../transcription/words.ts';

/** What the native library says of one voice model. */
export interface NativeTts {
  readonly numSpeakers: number;
  readonly sampleRate: number;
  /** One piece of speech; works beside the event loop. Rejects when nothing of the text can be said. */
  generateAsync(order: {
    text: string;
    sid: number;
    speed: number;
    /** False: the samples are ours to keep. */
    enableExternalBuffer: boolean;
  }): Promise<{ samples: Float32Array; sampleRate: number }>;
}

export interface NativeStream {
  acceptWaveform(sound: { samples: Float32Array; sampleRate: number }): void;
}

/** What the native library says of one recogniser. */
export interface NativeRecogniser {
  createStream(): NativeStream;
  /** Works beside the event loop. */
  decodeAsync(stream: NativeStream): Promise<{ text?: string; lang?: string } & TimedTokens>;
  /** Takes effect for the streams that are decoded from now on. */
  setConfig(config: object): void;
}

interface Sherpa {
  readonly OfflineTts: { createAsync(config: object): Promise<NativeTts> };
  readonly OfflineRecognizer: { createAsync(config: object): Promise<NativeRecogniser> };
}

/** The native library. Throws an Error of one line when there is none for this machine. */
export function sherpa(): Sherpa {
  try {
    return createRequire(import.meta.url)('sherpa-onnx-node') as Sherpa;
  } catch {
    throw new Error('the speech library sherpa-onnx-node can not be loaded on this machine');
  }
}
