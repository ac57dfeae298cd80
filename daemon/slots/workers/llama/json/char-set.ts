/** Code points as sorted ranges without overlaps. */
export type CharSet = readonly (readonly [number, number])[];

const LAST = 0x10ffff;
/** Surrogates, which are not characters on their own. */
const SURROGATES: readonly [number, number] = [0xd800, 0xdfff];

/** Sorts and merges ranges and removes surrogates. */
export function charSet(ranges: readonly (readonly [number, number])[]): CharSet {
  const sorted = [...ranges].sort(([a], [b]) => a - b);
  const merged: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return without(merged, [SURROGATES]);
}

/** Returns all characters that are not in `set`. */
export const inverted = (set: CharSet): CharSet => without([[0, LAST]], [...set, SURROGATES]);

/** Returns the characters of `set` that are not in `excluded`. */
export function without(set: CharSet, excluded: CharSet): CharSet {
  let left = [...set];
  for (const [from, to] of excluded) {
    left = left.flatMap(([a, b]): (readonly [number, number])[] => {
      if (to < a || from > b) return [[a, b]];
      return (
        [
          [a, from - 1],
          [to + 1, b],
        ] as const
      ).filter(([x, y]) => x <= y);
    });
  }
  return left;
}

export const has = (set: CharSet, code: number): boolean =>
  set.some(([from, to]) => from <= code && code <= to);

const range = (from: string, to = from): readonly [number, number] => [from.charCodeAt(0), to.charCodeAt(0)];

export const DIGIT: CharSet = [range('0', '9')];
export const WORD: CharSet = [range('0', '9'), range('A', 'Z'), range('_'), range('a', 'z')];
export const SPACE: CharSet = charSet([
  ...([
    [0x09, 0x0d],
    [0x20, 0x20],
    [0xa0, 0xa0],
    [0x1680, 0x1680],
    [0x2000, 0x200a],
  ] as const),
  ...([
    [0x2028, 0x2029],
    [0x202f, 0x202f],
    [0x205f, 0x205f],
    [0x3000, 0x3000],
    [0xfeff, 0xfeff],
  ] as const),
]);
/** Characters that a dot matches: all except line terminators. */
export const DOT: CharSet = inverted(
  charSet([
    [0x0a, 0x0a],
    [0x0d, 0x0d],
    [0x2028, 0x2029],
  ]),
);
