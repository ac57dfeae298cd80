/** Maximum length of a segment in seconds. The window of the whisper family is 30. */
const MAX_SEGMENT_S = 28;
/** A segment of at least this length ends at the next pause. */
const MIN_SEGMENT_S = 5;
/** Minimum length of a pause, and the length of the frames whose loudness is measured, in seconds. */
const PAUSE_S = 0.3;
const FRAME_S = 0.02;
/** A segment that must end is cut at the quietest point of its last seconds. */
const LOOKBACK_S = 10;
/** A frame is quiet below this fraction of the loudest one, or when almost silent. */
const QUIET_PART = 0.08;
const QUIET_LEVEL = 0.003;
/** A segment that is nowhere louder than this is silent. */
const SILENCE_LEVEL = 0.0005;

/** A part of a recording that is recognised separately. */
export interface AudioSegment {
  /** Seconds from the start of the recording. */
  readonly start: number;
  readonly end: number;
  readonly samples: Float32Array;
  /** True when the segment contains no audible sound. */
  readonly silent: boolean;
}

/** Splits a recording of any length into segments that fit a recogniser's window, at pauses if possible. */
export class Segmenter {
  readonly #rate: number;
  readonly #frame: number;
  /** Samples that are not yet part of a segment, and the loudness of their complete frames. */
  #pending: Float32Array;
  #length = 0;
  #levels: number[] = [];
  /** Number of samples before the pending ones. */
  #before = 0;

  constructor(rate: number) {
    this.#rate = rate;
    this.#frame = Math.max(1, Math.round(FRAME_S * rate));
    this.#pending = new Float32Array(Math.ceil((MAX_SEGMENT_S + 1) * rate));
  }

  /** Seconds received so far. */
  get seconds(): number {
    return (this.#before + this.#length) / this.#rate;
  }

  /** Yields the segments that end within `samples`. */
  *push(samples: Float32Array): Generator<AudioSegment> {
    for (let at = 0; at < samples.length; at += this.#frame) {
      const part = samples.subarray(at, at + this.#frame);
      this.#pending.set(part, this.#length);
      this.#length += part.length;
      while ((this.#levels.length + 1) * this.#frame <= this.#length) this.#measure();
      const cut = this.#nextCut();
      if (cut > 0) yield this.#take(cut);
    }
  }

  /** Yields the last segment, if any. */
  *flush(): Generator<AudioSegment> {
    if (this.#length > 0) yield this.#take(this.#length);
  }

  #measure(): void {
    const start = this.#levels.length * this.#frame;
    let sum = 0;
    for (let at = start; at < start + this.#frame; at++) sum += (this.#pending[at] as number) ** 2;
    this.#levels.push(Math.sqrt(sum / this.#frame));
  }

  /** Returns where to cut the pending samples. 0: no cut yet. */
  #nextCut(): number {
    if (this.#length >= MAX_SEGMENT_S * this.#rate) return this.#quietestFrame() * this.#frame;
    if (this.#length < MIN_SEGMENT_S * this.#rate) return 0;
    const frames = Math.round(PAUSE_S / FRAME_S);
    const quiet = Math.max(QUIET_LEVEL, QUIET_PART * this.#loudest());
    const paused = this.#levels.slice(-frames).every((level) => level < quiet);
    return paused ? (this.#levels.length - Math.floor(frames / 2)) * this.#frame : 0;
  }

  #quietestFrame(): number {
    const from = this.#levels.length - Math.round(LOOKBACK_S / FRAME_S);
    let best = this.#levels.length - 1;
    for (let at = best; at >= from; at--)
      if ((this.#levels[at] as number) < (this.#levels[best] as number)) best = at;
    return best;
  }

  #loudest(): number {
    return this.#levels.reduce((most, level) => Math.max(most, level), 0);
  }

  #take(length: number): AudioSegment {
    const samples = this.#pending.slice(0, length);
    const frames = Math.min(this.#levels.length, Math.ceil(length / this.#frame));
    const silent =
      this.#levels.slice(0, frames).every((level) => level < SILENCE_LEVEL) &&
      samples.subarray(frames * this.#frame).every((value) => Math.abs(value) < SILENCE_LEVEL);
    this.#pending.copyWithin(0, length, this.#length);
    this.#levels.splice(0, Math.floor(length / this.#frame));
    this.#length -= length;
    const start = this.#before / this.#rate;
    this.#before += length;
    return { start, end: this.#before / this.#rate, samples, silent };
  }
}
