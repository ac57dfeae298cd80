/** One character of a string or set, as written and as decoded. */
interface GbnfCharacter {
  readonly written: string;
  readonly code: number;
}

const SIGN = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))|[\s\S]/gu;
const CONTROLS: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n' };
const LAST_CODE = 0x10ffff;

/**
 * Returns what no text can contain from the strings and sets of a grammar, each with its quotes or brackets.
 * Null when there is nothing.
 */
export function signFault(quoted: readonly string[]): string | null {
  for (const part of quoted) {
    const fault = part.startsWith('[') ? setFault(part) : textFault(part);
    if (fault !== null) return fault;
  }
  return null;
}

function textFault(text: string): string | null {
  const signs = signsOf(text.slice(1, -1));
  // llama.cpp compares up to this character, and no token contains it.
  if (signs.some(({ code }) => code === 0))
    return 'no token contains the character U+0000, which a string of the grammar needs';
  return beyondFault(signs);
}

function setFault(set: string): string | null {
  const others = set.startsWith('[^');
  const signs = signsOf(set.slice(others ? 2 : 1, -1));
  let highest = 0;
  for (let at = 0; at < signs.length; at++) {
    const from = signs[at] as GbnfCharacter;
    const to = signs[at + 1]?.written === '-' ? signs[at + 2] : undefined;
    if (to !== undefined) {
      at += 2;
      if (to.code < from.code) return `the range ${from.written}-${to.written} ends before it starts`;
    }
    highest = Math.max(highest, (to ?? from).code);
  }
  if (!others && signs.length > 0 && highest === 0)
    return 'no token contains the character U+0000, which a character class of the grammar needs';
  return beyondFault(signs);
}

function beyondFault(signs: readonly GbnfCharacter[]): string | null {
  const beyond = signs.find(({ code }) => code > LAST_CODE);
  return beyond === undefined ? null : `there is no character ${beyond.written}`;
}

function signsOf(text: string): GbnfCharacter[] {
  return Array.from(text.matchAll(SIGN), ([written, two, four, eight, escaped]) => {
    const hex = two ?? four ?? eight;
    if (hex !== undefined) return { written, code: Number.parseInt(hex, 16) };
    const sign = escaped === undefined ? written : (CONTROLS[escaped] ?? escaped);
    return { written, code: sign.codePointAt(0) ?? 0 };
  });
}
