/**
 * A function of one text that remembers its latest answers, `most` of them: for what nearly every request asks again, such as
 * what its Host means. The function must always say the same of the same text.
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
