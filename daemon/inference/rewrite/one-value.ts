import { type BodyIndex, fieldOf } from './body-index.ts';
import { type Edit, NO_EDITS, remove } from './edits.ts';

/**
 * Keeps only the last occurrence of a duplicate field. An engine that reads the first would otherwise use
 * another value than the one that chose the slot.
 */
export function dropDuplicates(index: BodyIndex): readonly Edit[] {
  let edits: Edit[] | null = null;
  for (const field of index.fields) {
    if (fieldOf(index, field.name) === field) continue;
    edits ??= [];
    edits.push(remove('fields', field));
  }
  return edits ?? NO_EDITS;
}
