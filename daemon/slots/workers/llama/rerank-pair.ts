/** The marks around query and document that a model file defines. */
export interface PairMarks {
  bos: number | null;
  eos: number | null;
  sep: number | null;
  /** Which of them are added. */
  add: { bos: boolean; eos: boolean; sep: boolean };
  /** The text with `{query}` and `{document}` that the model was trained on. Null when the file has none. */
  template: string | null;
}

/** Tokenizes a text. `marks`: names of control tokens become these tokens. */
export type Tokenise = (text: string, marks: boolean) => readonly number[];

const PLACEHOLDERS = /(\{query\}|\{document\})/;

/**
 * Joins query and document to one input, as llama-server does: by the file's `rerank` template, or as `bos
 * query eos sep document eos` with the marks that the file requests. Control tokens in a caller's text remain
 * text; llama-server would interpret them in a template.
 */
export function rerankPair(
  query: string,
  document: string,
  { template, ...marks }: PairMarks,
  tokenise: Tokenise,
): number[] {
  if (template !== null) return templated(template, { query, document }, tokenise);
  const { bos, sep, add } = marks;
  const end = add.eos ? present(marks.eos ?? sep) : [];
  return [
    ...(add.bos ? present(bos) : []),
    ...tokenise(query, false),
    ...end,
    ...(add.sep ? present(sep) : []),
    ...tokenise(document, false),
    ...end,
  ];
}

/**
 * Tokenizes the template as one text, so that words and spaces form tokens together, unless a caller's text
 * contains control tokens.
 */
function templated(
  template: string,
  texts: { query: string; document: string },
  tokenise: Tokenise,
): number[] {
  const parts = template.split(PLACEHOLDERS).map((part) => {
    if (part === '{query}') return { text: texts.query, own: false };
    if (part === '{document}') return { text: texts.document, own: false };
    return { text: part, own: true };
  });
  const harmless = Object.values(texts).every((text) => same(tokenise(text, true), tokenise(text, false)));
  if (harmless) return [...tokenise(parts.map(({ text }) => text).join(''), true)];
  return parts.flatMap(({ text, own }) => (text === '' ? [] : tokenise(text, own)));
}

const present = (token: number | null): number[] => (token === null ? [] : [token]);

const same = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((token, i) => token === b[i]);
