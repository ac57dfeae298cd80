/** Names are distinguished up to this length. A string that starts like a longer name is excluded. */
const MAX_NAME_CHARS = 64;
/**
 * Characters that must be escaped in a JSON string, and the characters after a backslash except those with a
 * short escape.
 */
const BARE_NEVER = String.raw`"\\\x7F\x00-\x1F`;
const SIGNS = ['"', '\\', 'b', 'f', 'n', 'r', 't'] as const;

const QUOTE = String.raw`"\""`;

interface Names {
  ends: boolean;
  /** True: a string with this prefix is excluded, because the name is too long to distinguish. */
  closed: boolean;
  next: Map<string, Names>;
}

/**
 * Returns GBNF for a JSON string that equals none of `names`, so that an additional property cannot repeat a
 * listed one. The string contains no `\u` escapes.
 */
export function otherNames(names: readonly string[]): string {
  const root: Names = { ends: false, closed: false, next: new Map() };
  for (const name of names) add(root, name);
  const any = `([^${BARE_NEVER}] | [\\\\] [${SIGNS.map(inSet).join('')}])*`;
  return `${QUOTE} ${differing(root, any)} ${QUOTE}`;
}

function add(root: Names, name: string): void {
  let here = root;
  const chars = [...name.slice(0, 4 * MAX_NAME_CHARS)];
  for (const unit of chars.slice(0, MAX_NAME_CHARS).map((char) => JSON.stringify(char).slice(1, -1))) {
    const next = here.next.get(unit) ?? { ends: false, closed: false, next: new Map() };
    here.next.set(unit, next);
    here = next;
  }
  here.ends = true;
  here.closed ||= chars.length > MAX_NAME_CHARS;
}

/** Matches what follows while the string is still a prefix of a name. */
function differing({ ends, next }: Names, any: string): string {
  const units = [...next.keys()];
  const bare = units.filter((unit) => !unit.startsWith('\\'));
  const signs = SIGNS.filter((sign) => !next.has(`\\${sign}`));
  const options = [
    ...(ends ? [] : ['""']),
    `[^${BARE_NEVER}${bare.map(inSet).join('')}] ${any}`,
    ...(signs.length === 0 ? [] : [`[\\\\] [${signs.map(inSet).join('')}] ${any}`]),
    ...[...next].flatMap(([unit, after]) => {
      const written = unitRule(unit);
      return written === null || after.closed ? [] : [`${written} ${differing(after, any)}`];
    }),
  ];
  return `(${options.join(' | ')})`;
}

/**
 * Returns a character of a name as written in a string. Null for a character that is never written unescaped.
 */
function unitRule(unit: string): string | null {
  if (!unit.startsWith('\\')) return `[${inSet(unit)}]`;
  const sign = unit.slice(1);
  return sign.length > 1 ? null : `[\\\\] [${inSet(sign)}]`;
}

/** Escapes a character for a GBNF set. */
function inSet(char: string): string {
  if (/[A-Za-z0-9_ ]/.test(char)) return char;
  const code = char.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0').toUpperCase()}`;
  return `\\U${code.toString(16).padStart(8, '0').toUpperCase()}`;
}
