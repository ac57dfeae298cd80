/**
 * Runs `work` at the first call of a tick, and once more in a microtask if it was called again in between. A
 * thousand consecutive calls cost two runs, and the last run happens after all calls.
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
