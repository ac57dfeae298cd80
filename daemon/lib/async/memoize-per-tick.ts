/**
 * Reads once for all who ask before the code that runs now has ended: what is true cannot change for them meanwhile, and a
 * reading that asks the system is not cheap a thousand times in a row.
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
