import type { SessionConfig } from './session-config.ts';

/** Token counts of the engine. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

export interface StageTimes {
  /** Milliseconds to the first token or audio; null when none arrived. */
  readonly firstMs: number | null;
  readonly ms: number;
}

/** How a response is spoken. */
export interface VoiceRequest {
  readonly voice: string | null;
  readonly speed: number;
  readonly format: SessionConfig['output']['format'];
}
