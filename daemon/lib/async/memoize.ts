/**
 * A function of one text that remembers its latest answers, `most` of them: for what nearly every request asks again, such as
 * what its Host means. The function must always say the same of the same text.
 */
export function remember<T>(of: (text: string) => T, most = 32): (text: string) => T {
  let known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined || known.has(text)) return before as T;
    if (known.size >= most) known = new Map();
    const answer = of(text);
    known.set(text, answer);
    return answer;
  };
}
