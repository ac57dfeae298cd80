import { type BodyIndex, fieldOf } from './body-index.ts';
import { type Edit, NO_EDITS, remove } from './edits.ts';

/**
 * Of a field that occurs twice only the last stays: an engine that takes the first would act on another value than the
 * one that chose the slot.
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
