import { type BodyPicture, fieldOf } from './body-picture.ts';
import { type Edit, remove } from './edits.ts';

/**
 * Of a field that occurs twice only the last stays: an engine that takes the first would act on another value than the
 * one that chose the slot.
 */
export function oneValue(picture: BodyPicture): Edit[] {
  const earlier = picture.fields.filter((field) => fieldOf(picture, field.name) !== field);
  return earlier.map((field) => remove('fields', field));
}
