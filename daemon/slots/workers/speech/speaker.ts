import type { WorkerHealth, WorkerInfo } from '../protocol.ts';
import { invalidField } from '../refusal.ts';
import type { SpeechConfig } from '../speech-config.ts';
import { findVoice, unknownVoiceMessage } from './voice-name.ts';

export interface Voice {
  readonly id: string;
  readonly name: string;
}

/** One piece of speech: 16-bit mono samples. */
export interface SpeechChunk {
  readonly rate: number;
  readonly pcm: Buffer;
  /** True for the last piece. */
  readonly last: boolean;
}

export interface SpeechJob {
  readonly text: string;
  /** The requested voice. Null: the engine's default. */
  readonly voice: string | null;
  /** 1 is normal speed. */
  readonly speed: number;
}

/** A speech synthesiser. */
export interface Speaker {
  readonly info: WorkerInfo;
  readonly voices: readonly Voice[];
  /**
   * Waits for its turn, then passes each piece to `take` when it is ready and generates the next one after
   * `take` resolves. Throws a Refusal before the first piece for an unsupported voice or text, and the
   * signal's reason after a disconnect.
   */
  speak(order: SpeechJob, signal: AbortSignal, take: (spoken: SpeechChunk) => Promise<void>): Promise<void>;
  stats(): Omit<WorkerHealth, 'status'>;
  dispose(): Promise<void>;
}

/**
 * Returns the index of the requested voice; `own` for none or an OpenAI name. Throws 422 with the available
 * voices.
 */
export function voiceIndex(voices: readonly Voice[], requested: string | null, own: number): number {
  if (requested === null || requested === '') return own;
  const ids = voices.map(({ id }) => id);
  const index = findVoice(ids, requested, own);
  if (index === null) throw invalidField('voice', `voice: ${unknownVoiceMessage(ids, requested)}`);
  return index;
}

/** Returns the facts of an engine without window and layers. */
export const soundInfo = (
  config: SpeechConfig,
  architecture: string,
  size: number,
  threads = config.threads,
): WorkerInfo => ({
  device: 'cpu',
  deviceNames: [],
  gpuLayers: 0,
  layers: 0,
  context: 0,
  contextTrain: null,
  parallel: config.parallel,
  threads,
  architecture,
  chatTemplate: false,
  size,
});
