import type { PullJob } from './pull-job.ts';

export interface ProgressOptions {
  /** Notifies all subscribers. */
  emit(job: PullJob): void;
  /** Persists the number of bytes. */
  persist(job: PullJob): void;
  readonly now?: () => number;
}

const SHOW_MS = 1_000;
const NOTE_MS = 5_000;

/**
 * Emits a change of state at once and of bytes about once per second and job. Persists bytes every few
 * seconds.
 */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #now: () => number;
  readonly #shown = new WeakMap<PullJob, number>();
  readonly #persistedAt = new WeakMap<PullJob, number>();
  #closed = false;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  changed(job: PullJob, what: 'state' | 'bytes'): void {
    if (this.#closed) return;
    const now = this.#now();
    if (what === 'state' || now - (this.#shown.get(job) ?? 0) >= SHOW_MS) {
      this.#shown.set(job, now);
      this.#options.emit(job);
    }
    if (what === 'bytes' && now - (this.#persistedAt.get(job) ?? 0) >= NOTE_MS) {
      this.#persistedAt.set(job, now);
      this.#options.persist(job);
    }
  }

  close(): void {
    this.#closed = true;
  }
}
