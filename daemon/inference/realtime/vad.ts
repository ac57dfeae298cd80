/** Length of one frame, in milliseconds. */
export const FRAME_MS = 20;
/** Loud frames in a row that begin speech: one alone is a click. */
const START_FRAMES = 2;
/** How far above the noise of the room speech must be, and how fast that estimate rises in each frame. */
const MIN_NOISE_RATIO = 3;
const NOISE_RISE = 1.003;

export interface VadSettings {
  /** 0 to 1: how loud speech is. */
  readonly threshold: number;
  /** Quiet that ends speech, in milliseconds. */
  readonly silenceMs: number;
}

/** What the gate remembers from frame to frame. */
export interface VadState {
  readonly speaking: boolean;
  /** Loud frames in a row while nobody speaks. */
  readonly loud: number;
  /** Quiet frames in a row while somebody speaks. */
  readonly quiet: number;
  /** Estimate of the noise of the room, 0 to 1. */
  readonly noise: number;
}

export const SILENT: VadState = { speaking: false, loud: 0, quiet: 0, noise: 0.0001 };

/** `started`: speech began `BEGINS` frames ago; `stopped`: it has ended with this frame. */
export type VadEvent = 'started' | 'stopped' | null;

/** The level of a threshold: 0 is -60 dB below full scale, 0.5 is -35 dB, 1 is -10 dB. */
export const levelOf = (threshold: number): number => 10 ** ((-60 + 50 * threshold) / 20);

/** The loudness of a frame: the root of its mean square, 0 to 1. */
export function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}

/** Frames between the first sound and the sign that speech has started. */
export const STARTED_BEFORE_MS = START_FRAMES * FRAME_MS;

/** Judges the next frame by its loudness. Speech must be loud for itself and stand out from what is always there. */
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
