/**
 * Returns a function that runs `work`, one run at a time. A call during a run shares the next run with all
 * other such calls, so that the run includes what the callers have just changed. A rejected run rejects only
 * for its own callers.
 */
export function coalesceAsync(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const startRun = (): Promise<void> => {
    const run = (async () => work())().finally(() => {
      running = null;
    });
    running = run;
    return run;
  };
  return () => {
    if (running === null && next === null) return startRun();
    next ??= (running ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        next = null;
        return startRun();
      });
    return next;
  };
}
