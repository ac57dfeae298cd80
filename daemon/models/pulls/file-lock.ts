/** Rejects with the signal's reason when it aborts before `work` has ended. */
async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Runs tasks that need the same files one after another in order of arrival, and all others concurrently. */
export class FileLock {
  readonly #holders = new Set<{ readonly files: ReadonlySet<string>; readonly left: Promise<void> }>();

  /** Runs `work` once no earlier task holds one of `files`. Rejects with the signal's reason while waiting. */
  async run<T>(files: readonly string[], work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = [...this.#holders].filter((other) => files.some((file) => other.files.has(file)));
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const place = { files: new Set(files), left };
    this.#holders.add(place);
    try {
      await unlessAborted(Promise.all(before.map((other) => other.left)), signal);
      return await work();
    } finally {
      this.#holders.delete(place);
      leave();
    }
  }
}
