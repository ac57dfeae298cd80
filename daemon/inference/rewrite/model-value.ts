import { type BodyIndex, fieldOf } from './body-index.ts';
import { type Edit, insertField, NO_EDITS, replace } from './edits.ts';

/**
 * Sets `model` to the id that the engine expects. Leaves the bytes unchanged when the caller wrote that id.
 */
export function setModel(index: BodyIndex, requested: string | null, model: string | null): readonly Edit[] {
  if (model === null || model === requested) return NO_EDITS;
  const field = fieldOf(index, 'model');
  return [field ? replace(field.value, JSON.stringify(model)) : insertField('model', model)];
}
