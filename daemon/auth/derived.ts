/**
 * Returns a memoized value that is computed again only when its source was replaced. The settings return the
 * same object until a change, so comparison by identity is sufficient.
 */
export function derived<T, U>(read: () => T, compute: (value: T) => U): () => U {
  let from: T | undefined;
  let value: U | undefined;
  return () => {
    const now = read();
    if (value === undefined || now !== from) {
      from = now;
      value = compute(now);
    }
    return value;
  };
}
