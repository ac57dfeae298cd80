/** Input samples on each side that one output sample is made of, when the rate does not fall. */
const REACH = 16;
/** Most different positions between two input samples; more are rounded to these. */
const MAX_PHASES = 1_024;
/** Part of the highest frequency that fits which passes, so that nothing folds back. */
const PASSBAND = 0.92;

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** One filter for each phase: a sinc under a Hann window, with sum 1. */
function filters(phases: number, reach: number, cutoff: number): Float32Array[] {
  return Array.from({ length: phases }, (_, phase) => {
    const filter = new Float32Array(2 * reach);
    let sum = 0;
    for (let tap = 0; tap < filter.length; tap++) {
      const distance = tap - reach + 1 - phase / phases;
      const angle = Math.PI * distance * cutoff;
      const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach);
      filter[tap] = sinc * (Math.abs(distance) < reach ? window : 0);
      sum += filter[tap] as number;
    }
    return filter.map((value) => value / sum);
  });
}

/** Changes the rate of a sound that comes in pieces. The pieces that come out follow one another without a seam. */
export class Resampler {
  readonly #from: number;
  readonly #to: number;
  readonly #reach: number;
  readonly #filters: readonly Float32Array[];
  /** Samples that may still be needed; the first stands at input position `#start`. */
  #buffer: Float32Array;
  #start: number;
  /** Number of the next output sample. */
  #next = 0;

  /** Rates in samples per second, whole numbers. */
  constructor(from: number, to: number) {
    const decimation = Math.max(1, from / to);
    this.#from = from;
    this.#to = to;
    this.#reach = Math.ceil(REACH * decimation);
    this.#filters =
      from === to
        ? []
        : filters(Math.min(MAX_PHASES, to / gcd(from, to)), this.#reach, PASSBAND / decimation);
    this.#buffer = new Float32Array(this.#reach);
    this.#start = -this.#reach;
  }

  /** What can be said so far. */
  push(samples: Float32Array): Float32Array {
    if (this.#from === this.#to) return samples;
    this.#append(samples);
    return this.#emit(this.#start + this.#buffer.length - this.#reach);
  }

  /** The rest, once the sound has ended. */
  flush(): Float32Array {
    if (this.#from === this.#to) return new Float32Array(0);
    const end = this.#start + this.#buffer.length;
    this.#append(new Float32Array(this.#reach));
    return this.#emit(end);
  }

  #append(samples: Float32Array): void {
    const needed = Math.floor((this.#next * this.#from) / this.#to) - this.#reach;
    const drop = Math.max(0, Math.min(needed - this.#start, this.#buffer.length));
    const buffer = new Float32Array(this.#buffer.length - drop + samples.length);
    buffer.set(this.#buffer.subarray(drop));
    buffer.set(samples, this.#buffer.length - drop);
    this.#buffer = buffer;
    this.#start += drop;
  }

  /** Output samples whose place lies before input position `end`. */
  #emit(end: number): Float32Array {
    const count = Math.max(0, Math.ceil((end * this.#to) / this.#from) - this.#next);
    const out = new Float32Array(count);
    for (let index = 0; index < count; index++) out[index] = this.#at(this.#next + index);
    this.#next += count;
    return out;
  }

  #at(number: number): number {
    const scaled = number * this.#from;
    const whole = Math.floor(scaled / this.#to);
    const phases = this.#filters.length;
    const phase = Math.min(phases - 1, Math.round(((scaled - whole * this.#to) / this.#to) * phases));
    const filter = this.#filters[phase] as Float32Array;
    const first = whole - this.#reach + 1 - this.#start;
    let sum = 0;
    for (let tap = 0; tap < filter.length; tap++)
      sum += (filter[tap] as number) * (this.#buffer[first + tap] ?? 0);
    return sum;
  }
}
