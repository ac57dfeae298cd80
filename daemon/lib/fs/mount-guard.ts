import { mountOf, mounts } from './mounts.ts';

/** A place that has not answered in time, or is not asked because it has not answered yet. */
export class DiskTimeout extends Error {
  override readonly name = 'DiskTimeout';
}

export interface MountGuardOptions {
  /** Milliseconds that a question may take. */
  readonly timeoutMs: number;
  /** So many unanswered places, and nobody is asked any more. */
  readonly maxUnresponsive: number;
  /** Mount points of the moment; default those of this machine. */
  readonly mounts: () => readonly string[];
}

/** A disk may have to spin up first. Node has four threads for files, which a share that hangs would take one by one. */
const DEFAULTS: MountGuardOptions = { timeoutMs: 15_000, maxUnresponsive: 2, mounts };
/** Milliseconds that mount points are taken to stay. */
const MOUNTS_TTL_MS = 1_000;

const NO_RESPONSE = 'its disk does not answer';

/**
 * Asks disks that may never answer (a network share whose server is away): one question at a time for each place, none
 * waited for longer than its time, and none where an earlier one is still unanswered. Folders of one mount are one place.
 */
export class MountGuard {
  readonly #options: MountGuardOptions;
  /** Places of which an answer is overdue. */
  readonly #unresponsive = new Set<string>();
  /** The last question of each place, until it is answered or given up. */
  readonly #queues = new Map<string, Promise<unknown>>();
  #mountPoints: readonly string[] = [];
  #mountsUntil = 0;
  /** Places of folders, while mount points are taken to stay. */
  #mountOfFolder = new Map<string, string>();

  constructor(options: Partial<MountGuardOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /** The answer to a question about a folder; rejects with SilentPlace when there is none in time, else as the question does. */
  run<T>(folder: string, operation: () => Promise<T>): Promise<T> {
    const mount = this.#mountOf(folder);
    const previous = this.#queues.get(mount) ?? Promise.resolve();
    const result = previous.then(() => this.#runNow(mount, operation));
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#queues.set(mount, settled);
    void settled.then(() => {
      if (this.#queues.get(mount) === settled) this.#queues.delete(mount);
    });
    return result;
  }

  #mountOf(folder: string): string {
    const now = performance.now();
    if (now >= this.#mountsUntil) {
      this.#mountOfFolder = new Map();
      this.#mountPoints = this.#options.mounts();
      this.#mountsUntil = now + MOUNTS_TTL_MS;
    }
    const mount = this.#mountOfFolder.get(folder) ?? mountOf(folder, this.#mountPoints) ?? folder;
    this.#mountOfFolder.set(folder, mount);
    return mount;
  }

  async #runNow<T>(mount: string, operation: () => Promise<T>): Promise<T> {
    const { timeoutMs: ms, maxUnresponsive: most } = this.#options;
    if (this.#unresponsive.has(mount)) throw new DiskTimeout(NO_RESPONSE);
    if (this.#unresponsive.size >= most) throw new DiskTimeout('too many other disks do not answer');
    const result = operation();
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#unresponsive.add(mount);
      const onSettled = () => void this.#unresponsive.delete(mount);
      result.then(onSettled, onSettled);
      timeout.reject(new DiskTimeout(NO_RESPONSE));
    }, ms);
    try {
      return await Promise.race([result, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
