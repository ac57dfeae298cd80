import { literal } from './rule-book.ts';
import { SchemaFault } from './schema-error.ts';

/** Branches that are written inside each other. Deeper ones are written as a list. */
const MAX_DEPTH = 64;
/**
 * Alternatives at one position. llama.cpp compares all of them with each other: 10,000 values as one list take 0.8 s for a short
 * text without a model, as a tree 1 ms.
 */
const MAX_WIDTH = 1_000;

/** Texts as lists of characters, all different. */
type Texts = readonly (readonly string[])[];

/**
 * Returns GBNF that matches exactly one of `texts`. Common beginnings are written once, so that the number of alternatives at a
 * position is that of the different next characters. Throws SchemaFault for more than 1,000 of them. There must be a text.
 */
export function literalChoice(texts: readonly string[], at: string): string {
  const distinct = [...new Set(texts)].map((text) => [...text]);
  return distinct.length === 1 ? literal(texts[0] ?? '') : branch(distinct, 0, 0, at);
}

/** Returns the rule of what follows position `from`. The texts are equal before it. */
function branch(texts: Texts, from: number, depth: number, at: string): string {
  const [first] = texts;
  if (texts.length === 1 && first !== undefined) return rest(first, from);
  if (depth >= MAX_DEPTH)
    return choice(
      texts.map((text) => rest(text, from)),
      at,
    );
  const groups = Map.groupBy(texts, (text) => text[from] ?? '');
  const parts = [...groups].map(([char, group]) => {
    if (char === '') return '""';
    const end = commonEnd(group, from);
    const shared = literal(group[0]?.slice(from, end).join('') ?? '');
    // The only text of a group ends here.
    return group.length === 1 ? shared : `${shared} ${branch(group, end, depth + 1, at)}`;
  });
  return choice(parts, at);
}

const rest = (text: readonly string[], from: number): string => literal(text.slice(from).join(''));

function choice(parts: readonly string[], at: string): string {
  if (parts.length > MAX_WIDTH)
    throw new SchemaFault(at, `more than ${MAX_WIDTH} of the listed values differ in the same character`);
  return parts.length === 1 ? (parts[0] ?? '') : `(${parts.join(' | ')})`;
}

/** Returns the position up to which the texts of a group are equal. A single text is equal to its end. */
function commonEnd(texts: Texts, from: number): number {
  const [first = [], ...others] = texts;
  let end = from;
  while (end < first.length && others.every((other) => other[end] === first[end])) end += 1;
  return end;
}
