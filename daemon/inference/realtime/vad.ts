/** Length of one frame, in milliseconds. */
export const FRAME_MS = 20;
/** Consecutive loud frames that start speech: a single one is a click. */
const START_FRAMES = 2;
/** Minimum ratio of speech to background noise, and the rise of the noise estimate per frame. */
const MIN_NOISE_RATIO = 3;
const NOISE_RISE = 1.003;

export interface VadSettings {
  /** Loudness of speech, 0 to 1. */
  readonly threshold: number;
  /** Silence that ends speech, in milliseconds. */
  readonly silenceMs: number;
}

/** The state of the VAD between frames. */
export interface VadState {
  readonly speaking: boolean;
  /** Consecutive loud frames before speech. */
  readonly loud: number;
  /** Consecutive quiet frames during speech. */
  readonly quiet: number;
  /** Estimate of the background noise, 0 to 1. */
  readonly noise: number;
}

export const SILENT: VadState = { speaking: false, loud: 0, quiet: 0, noise: 0.0001 };

/** `started`: speech began `START_FRAMES` frames ago. `stopped`: speech ended with this frame. */
export type VadEvent = 'started' | 'stopped' | null;

/** Returns the level of a threshold: 0 is -60 dB below full scale, 0.5 is -35 dB, 1 is -10 dB. */
export const levelOf = (threshold: number): number => 10 ** ((-60 + 50 * threshold) / 20);

/** Returns the root mean square of a frame, 0 to 1. */
export function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}

/** Time between the first sound and the detection of speech. */
export const STARTED_BEFORE_MS = START_FRAMES * FRAME_MS;

/**
 * Processes the loudness of the next frame. Speech must exceed both the threshold and the background noise.
 */
export function nextFrame(state: VadState, level: number, settings: VadSettings): [VadState, VadEvent] {
  const least = levelOf(settings.threshold);
  const noise = level < state.noise ? level : Math.min(Math.max(state.noise, 0.00001) * NOISE_RISE, least);
  const loud = level >= Math.max(least, state.noise * MIN_NOISE_RATIO);
  if (!state.speaking) {
    const row = loud ? state.loud + 1 : 0;
    if (row < START_FRAMES) return [{ ...state, noise, loud: row }, null];
    return [{ speaking: true, loud: 0, quiet: 0, noise }, 'started'];
  }
  const quiet = loud ? 0 : state.quiet + 1;
  if (quiet * FRAME_MS < settings.silenceMs) return [{ ...state, noise, quiet }, null];
  return [{ speaking: false, loud: 0, quiet: 0, noise }, 'stopped'];
}
