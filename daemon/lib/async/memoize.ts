/**
 * Memoizes a pure function of one string. Holds at most `maxEntries` results and clears the cache when it is
 * full. Use it for values that nearly every request needs, such as the parsed Host header.
 */
export function memoize<T>(compute: (text: string) => T, maxEntries = 32): (text: string) => T {
  let cache = new Map<string, T>();
  return (text) => {
    const cached = cache.get(text);
    if (cached !== undefined || cache.has(text)) return cached as T;
    if (cache.size >= maxEntries) cache = new Map();
    const value = compute(text);
    cache.set(text, value);
    return value;
  };
}
