/**
 * One run of `work` at a time, and for each call one that began after it: calls during a run share the run that follows, so
 * that what they have just changed is seen. A run that rejects does so for its own callers only.
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
