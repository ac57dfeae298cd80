/** Input samples on each side of an output sample, when the rate does not decrease. */
const REACH = 16;
/** Maximum number of distinct positions between two input samples. More are rounded to these. */
const MAX_PHASES = 1_024;
/** Passband as a part of the Nyquist frequency. The rest prevents aliasing. */
const PASSBAND = 0.92;

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Returns one filter per phase: a sinc with a Hann window, normalised to sum 1. */
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

/** Changes the sample rate of a sound that arrives in chunks. The output chunks are continuous. */
export class Resampler {
  readonly #from: number;
  readonly #to: number;
  readonly #reach: number;
  readonly #filters: readonly Float32Array[];
  /** Samples that may still be needed. The first one is at input position `#start`. */
  #buffer: Float32Array;
  #start: number;
  /** Number of the next output sample. */
  #next = 0;

  /** Rates are integers in samples per second. */
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

  /** Returns the output samples that can be computed so far. */
  push(samples: Float32Array): Float32Array {
    if (this.#from === this.#to) return samples;
    this.#append(samples);
    return this.#emit(this.#start + this.#buffer.length - this.#reach);
  }

  /** Returns the remaining output samples after the end of the input. */
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

  /** Returns the output samples before input position `end`. */
  #emit(end: number): Float32Array {
    const count = Math.max(0, Math.ceil((end * this.#to) / this.#from) - this.#next);
    const out = new Float32Array(count);
    for (let index = 0; index < count; index++) out[index] = this.#sampleAt(this.#next + index);
    this.#next += count;
    return out;
  }

  #sampleAt(number: number): number {
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
