/**
 * Reads once for all who ask before the code that runs now has ended: what is true cannot change for them meanwhile, and a
 * reading that asks the system is not cheap a thousand times in a row.
 */
export function onceATurn<T>(read: () => T): () => T {
  let kept: { readonly value: T } | null = null;
  return () => {
    if (kept === null) {
      kept = { value: read() };
      queueMicrotask(() => {
        kept = null;
      });
    }
    return kept.value;
  };
}
