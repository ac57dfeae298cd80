/**
 * Runs `work` at the first call of a turn, and once more after the code that runs now when it was called again meanwhile: a
 * thousand calls in a row cost two runs, and the last run has seen everything that they were about.
 */
export function coalesce(work: () => void): () => void {
  let state: 'once' | 'again' | null = null;
  return () => {
    if (state !== null) {
      state = 'again';
      return;
    }
    state = 'once';
    queueMicrotask(() => {
      const again = state === 'again';
      state = null;
      if (again) work();
    });
    work();
  };
}
