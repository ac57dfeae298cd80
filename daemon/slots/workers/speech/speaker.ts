import type { WorkerFacts, WorkerHealth } from '../protocol.ts';
import { refusedField } from '../refusal.ts';
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
  /** Nothing follows. */
  readonly last: boolean;
}

export interface SpeechJob {
  readonly text: string;
  /** The voice that was asked for; null for the engine's own. */
  readonly voice: string | null;
  /** 1 is the usual speed. */
  readonly speed: number;
}

/** Something that speaks. */
export interface Speaker {
  readonly facts: WorkerFacts;
  readonly voices: readonly Voice[];
  /**
   * Speaks when it is its turn and hands over each piece when it is ready; the next is made once it was taken. Throws a
   * Refusal before the first piece for a voice or text that it cannot speak, and the signal's reason when the caller left.
   */
  speak(order: SpeechJob, signal: AbortSignal, take: (spoken: SpeechChunk) => Promise<void>): Promise<void>;
  stats(): Omit<WorkerHealth, 'status'>;
  dispose(): Promise<void>;
}

/** Position of the voice that is meant; `own` for none or a name of OpenAI's. Throws 422 with the voices there are. */
export function voiceIndex(voices: readonly Voice[], requested: string | null, own: number): number {
  if (requested === null || requested === '') return own;
  const ids = voices.map(({ id }) => id);
  const index = findVoice(ids, requested, own);
  if (index === null) throw refusedField('voice', `voice: ${unknownVoiceMessage(ids, requested)}`);
  return index;
}

/** The facts of an engine that has no window and no layers. */
export const soundFacts = (
  config: SpeechConfig,
  architecture: string,
  size: number,
  threads = config.threads,
): WorkerFacts => ({
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
