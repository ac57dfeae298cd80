import { type BodyPicture, fieldOf } from './body-picture.ts';
import { type Edit, remove } from './edits.ts';

/**
 * Of a field that occurs twice only the last stays: an engine that takes the first would act on another value than the
 * one that chose the slot.
 */
export function oneValue(picture: BodyPicture): Edit[] {
  const kept = new Set(picture.fields.map((field) => fieldOf(picture, field.name)));
  return picture.fields.filter((field) => !kept.has(field)).map((field) => remove('fields', field));
}
