import { mountOf, mounts } from './mounts.ts';

/** A place that has not answered in time, or is not asked because it has not answered yet. */
export class SilentPlace extends Error {
  override readonly name = 'SilentPlace';
}

export interface PatienceOptions {
  /** Milliseconds that a question may take. */
  readonly ms: number;
  /** So many unanswered places, and nobody is asked any more. */
  readonly most: number;
  /** Mount points of the moment; default those of this machine. */
  readonly mounts: () => readonly string[];
}

/** A disk may have to spin up first. Node has four threads for files, which a share that hangs would take one by one. */
const DEFAULTS: PatienceOptions = { ms: 15_000, most: 2, mounts };
/** Milliseconds that mount points are taken to stay. */
const MOUNTS_MS = 1_000;

const SILENT = 'its disk does not answer';

/**
 * Asks disks that may never answer (a network share whose server is away): one question at a time for each place, none
 * waited for longer than its time, and none where an earlier one is still unanswered. Folders of one mount are one place.
 */
export class Patience {
  readonly #options: PatienceOptions;
  /** Places of which an answer is overdue. */
  readonly #silent = new Set<string>();
  /** The last question of each place, until it is answered or given up. */
  readonly #lines = new Map<string, Promise<unknown>>();
  #mountPoints: readonly string[] = [];
  #mountsUntil = 0;
  /** Places of folders, while mount points are taken to stay. */
  #places = new Map<string, string>();

  constructor(options: Partial<PatienceOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /** The answer to a question about a folder; rejects with SilentPlace when there is none in time, else as the question does. */
  ask<T>(folder: string, question: () => Promise<T>): Promise<T> {
    const place = this.#placeOf(folder);
    const turn = this.#lines.get(place) ?? Promise.resolve();
    const answer = turn.then(() => this.#askNow(place, question));
    const over = answer.then(
      () => {},
      () => {},
    );
    this.#lines.set(place, over);
    void over.then(() => {
      if (this.#lines.get(place) === over) this.#lines.delete(place);
    });
    return answer;
  }

  #placeOf(folder: string): string {
    const now = performance.now();
    if (now >= this.#mountsUntil) {
      this.#places = new Map();
      this.#mountPoints = this.#options.mounts();
      this.#mountsUntil = now + MOUNTS_MS;
    }
    const place = this.#places.get(folder) ?? mountOf(folder, this.#mountPoints) ?? folder;
    this.#places.set(folder, place);
    return place;
  }

  async #askNow<T>(place: string, question: () => Promise<T>): Promise<T> {
    const { ms, most } = this.#options;
    if (this.#silent.has(place)) throw new SilentPlace(SILENT);
    if (this.#silent.size >= most) throw new SilentPlace('too many other disks do not answer');
    const answer = question();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#silent.add(place);
      const answered = () => void this.#silent.delete(place);
      answer.then(answered, answered);
      late.reject(new SilentPlace(SILENT));
    }, ms);
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
