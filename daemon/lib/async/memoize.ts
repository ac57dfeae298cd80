import { LRUCache } from 'lru-cache';

/**
 * Memoizes a pure function of one string. Holds at most `maxEntries` results. Use it for values that nearly
 * every request needs, such as the parsed Host header.
 */
export function memoize<T>(compute: (text: string) => T, maxEntries = 32): (text: string) => T {
  // The library stores no undefined result, so each one has a box.
  const cache = new LRUCache<string, { readonly value: T }>({
    max: maxEntries,
    memoMethod: (text) => ({ value: compute(text) }),
  });
  return (text) => cache.memo(text).value;
}
