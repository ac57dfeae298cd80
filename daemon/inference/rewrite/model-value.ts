import { type BodyIndex, fieldOf } from './body-index.ts';
import { type Edit, insertField, NO_EDITS, replace } from './edits.ts';

/** Writes `model` as the id that the engine answers to; the bytes stay when that is what the caller wrote. */
export function setModel(index: BodyIndex, asked: string | null, model: string | null): readonly Edit[] {
  if (model === null || model === asked) return NO_EDITS;
  const field = fieldOf(index, 'model');
  return [field ? replace(field.value, JSON.stringify(model)) : insertField('model', model)];
}
