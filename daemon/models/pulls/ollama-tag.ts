/** An entry of the catalogue. */
export interface NamedEntry {
  readonly name: string;
  /** `owner/name:SELECTOR`. */
  readonly model: string;
}

/** The quantisation at the end of a tag, as in `9b-instruct-q8_0`. */
const QUANTISATION = /-(i?q\d[a-z0-9_]*|fp16|bf16|f16|f32|mxfp4)$/i;
const TUNING = /-(instruct|it|chat)$/i;
/** What a tag may leave out of a name: size, version and tuning. Any other word names another model. */
const OMITTED = /^([ae]?\d+(\.\d+)?[bm]|v\d+(\.\d+)*|qat|instruct|it|chat)$/i;
const MAX_SIMILAR = 5;

const letters = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Returns whether a name begins with the letters of a tag, up to the end of a word, and goes on with what tags leave out. */
function isNamed(name: string, key: string): boolean {
  const words = name.split(/[\s-]+/);
  return words.some(
    (_, last) =>
      letters(words.slice(0, last + 1).join('')) === key &&
      words.slice(last + 1).every((word) => OMITTED.test(word)),
  );
}

/**
 * Finds the entry of the catalogue for a tag of Ollama: `name:size`, with an optional quantisation. `similar` has the
 * models whose names begin alike, when none or several match. Pure.
 */
export function ollamaTag(
  tag: string,
  entries: readonly NamedEntry[],
): { model: string | null; similar: string[] } {
  const bare = tag.replace(/^library\//, '').replace(/:latest$/, '');
  const quantisation = QUANTISATION.exec(bare)?.[1] ?? null;
  const key = letters(bare.replace(QUANTISATION, '').replace(TUNING, ''));
  if (key === '') return { model: null, similar: [] };
  const exact = entries.filter(({ name }) => letters(name) === key);
  const longer = entries.filter(({ name }) => isNamed(name, key));
  const [only, ...others] = exact.length > 0 ? exact : longer;
  if (only !== undefined && others.length === 0)
    return { model: withQuantisation(only.model, quantisation), similar: [] };
  const family = letters(bare.split(':')[0] ?? '');
  const alike = entries.filter(({ name }) => letters(name).startsWith(family));
  return { model: null, similar: alike.slice(0, MAX_SIMILAR).map(({ model }) => model) };
}

function withQuantisation(model: string, quantisation: string | null): string {
  if (quantisation === null) return model;
  const name = quantisation.toUpperCase().replace(/^FP16$/, 'F16');
  return `${model.split(':')[0]}:${name}`;
}
