import { mountOf, mounts } from './mounts.ts';

/** Thrown when a mount did not respond in time, or when an earlier operation on it is still unanswered. */
export class DiskTimeout extends Error {
  override readonly name = 'DiskTimeout';
}

export interface MountGuardOptions {
  /** Time limit of one operation, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of unresponsive mounts. Above it, no operation is started on any mount. */
  readonly maxUnresponsive: number;
  /** Returns the current mount points. Default: those of this machine. */
  readonly mounts: () => readonly string[];
}

/**
 * 15 s, because a disk may have to spin up first. At most 2 mounts, because Node has four threads for file
 * operations and a hanging share blocks one of them per call.
 */
const DEFAULTS: MountGuardOptions = { timeoutMs: 15_000, maxUnresponsive: 2, mounts };
/** How long the list of mount points is cached, in milliseconds. */
const MOUNTS_TTL_MS = 1_000;

const NO_RESPONSE = 'its disk does not answer';

/**
 * Guards operations on disks that may never respond, such as a network share whose server is down. Runs one
 * operation at a time per mount, limits the wait for each, and starts none on a mount that has not answered
 * an earlier one.
 */
export class MountGuard {
  readonly #options: MountGuardOptions;
  /** Mounts with an overdue operation. */
  readonly #unresponsive = new Set<string>();
  /** The last queued operation of each mount, until it settles or times out. */
  readonly #queues = new Map<string, Promise<unknown>>();
  #mountPoints: readonly string[] = [];
  #mountsUntil = 0;
  /** Mounts by folder, valid as long as the cached mount points. */
  #mountOfFolder = new Map<string, string>();

  constructor(options: Partial<MountGuardOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /**
   * Runs `operation` on the mount of `folder`. Rejects with DiskTimeout when it does not settle in time,
   * otherwise settles like the operation.
   */
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
    const { timeoutMs, maxUnresponsive } = this.#options;
    if (this.#unresponsive.has(mount)) throw new DiskTimeout(NO_RESPONSE);
    if (this.#unresponsive.size >= maxUnresponsive)
      throw new DiskTimeout('too many other disks do not answer');
    const result = operation();
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#unresponsive.add(mount);
      const onSettled = () => void this.#unresponsive.delete(mount);
      result.then(onSettled, onSettled);
      timeout.reject(new DiskTimeout(NO_RESPONSE));
    }, timeoutMs);
    try {
      return await Promise.race([result, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
