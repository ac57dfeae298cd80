/**
 * Returns a function that calls `read` at most once per tick. The value cannot change within a tick, and a
 * read that makes a system call is too slow to repeat a thousand times.
 */
export function memoizePerTick<T>(read: () => T): () => T {
  let cached: { readonly value: T } | null = null;
  return () => {
    if (cached === null) {
      cached = { value: read() };
      queueMicrotask(() => {
        cached = null;
      });
    }
    return cached.value;
  };
}
