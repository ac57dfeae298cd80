interface Sample {
  readonly at: number;
  readonly bytes: number;
}

/** Milliseconds over which the speed is measured. */
const WINDOW_MS = 8_000;
const STEP_MS = 500;

/** Measures the speed of one job. */
export class Meter {
  readonly #now: () => number;
  #samples: Sample[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Records the current number of bytes. A smaller number restarts the measurement. */
  update(bytes: number): void {
    const at = this.#now();
    const last = this.#samples.at(-1);
    if (last !== undefined && bytes < last.bytes) this.#samples = [];
    else if (last !== undefined && at - last.at < STEP_MS) return;
    this.#samples.push({ at, bytes });
    this.#samples = this.#samples.filter((sample) => at - sample.at <= WINDOW_MS);
  }

  /** Returns bytes per second over the last seconds. Null when nothing arrived. */
  speed(): number | null {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || this.#now() - last.at > WINDOW_MS) return null;
    const bytes = last.bytes - first.bytes;
    return bytes > 0 ? Math.round((bytes * 1000) / (last.at - first.at)) : null;
  }
}
