/**
 * A value computed from a live one, and computed again only when the live one was replaced. The settings hand out the
 * same object until a change, so comparing by identity is enough.
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
