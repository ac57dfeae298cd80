/**
 * Runs `work` at the first call of a turn, and once more after the code that runs now when it was called again meanwhile: a
 * thousand calls in a row cost two runs, and the last run has seen everything that they were about.
 */
export function againAfter(work: () => void): () => void {
  let called: 'once' | 'again' | null = null;
  return () => {
    if (called !== null) {
      called = 'again';
      return;
    }
    called = 'once';
    queueMicrotask(() => {
      const again = called === 'again';
      called = null;
      if (again) work();
    });
    work();
  };
}
