import { stringAt } from '../../lib/json/byte-scanner.ts';
import type { EffortAsk } from '../forward/effort-support.ts';
import { type BodyPicture, fieldOf } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { NO_EDITS, remove, replace } from './edits.ts';

/** What a chat that was made from a request of another API asks of its model; null when it asks for no effort. */
export function effortOf(picture: BodyPicture): Pick<EffortAsk, 'effort' | 'tools'> | null {
  const field = fieldOf(picture, 'reasoning_effort');
  if (field?.kind !== 'string') return null;
  return { effort: stringAt(picture.bytes, field.value), tools: fieldOf(picture, 'tools') !== undefined };
}

/** An effort that the target has refused is told as it takes it, or left out. A chat that came as one stays as it was written. */
export const effort: BodyRule = ({ picture, effort: told }) => {
  const field = fieldOf(picture, 'reasoning_effort');
  if (field === undefined || told === undefined) return NO_EDITS;
  return [told === 'none' ? replace(field.value, '"none"') : remove('fields', field)];
};
