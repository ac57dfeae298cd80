import { IgnoredNames } from '../../../contract/ignored.ts';
import type { Generation } from './request.ts';
import type { ReadOptions } from './response-reader.ts';
import type { Structure } from './structure.ts';

/** The grammar of an answer. */
export interface PlannedGrammar {
  grammar: Generation['grammar'];
  /** Keywords of schemas that the grammar does not enforce, as `FIELD.KEYWORD`. */
  relaxed: readonly string[];
}

/** How to generate and read the answer to one chat. */
export interface ChatPlan extends PlannedGrammar {
  readOptions: ReadOptions;
  /** The grammar applies after this text. Null: from the beginning. */
  gate: string | null;
  /** Control tokens that are decoded as text. */
  marks: readonly string[];
}

export const NO_GRAMMAR: PlannedGrammar = { grammar: null, relaxed: [] };

/** Returns the grammar that `make` writes for a request field. `make` reports the relaxed keywords of tools. */
export function plannedGrammar(
  param: string,
  structure: Structure | null,
  make: (relax: (keyword: string) => void) => string,
): PlannedGrammar {
  const relaxed = new IgnoredNames();
  for (const name of structure?.relaxed ?? []) relaxed.add(name);
  const text = make((keyword) => relaxed.add(`tools.${keyword}`));
  return { grammar: { text, param }, relaxed: relaxed.names };
}
