import { stringAt } from '../../lib/json/byte-scanner.ts';
import type { EffortRequest } from '../forward/effort-support.ts';
import { type BodyIndex, fieldOf } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { NO_EDITS, remove, replace } from './edits.ts';

/** What a chat that was made from a request of another API asks of its model; null when it asks for no effort. */
export function effortOf(index: BodyIndex): Pick<EffortRequest, 'effort' | 'tools'> | null {
  const field = fieldOf(index, 'reasoning_effort');
  if (field?.kind !== 'string') return null;
  return { effort: stringAt(index.bytes, field.value), tools: fieldOf(index, 'tools') !== undefined };
}

/** An effort that the target has refused is told as it takes it, or left out. A chat that came as one stays as it was written. */
export const effort: BodyRule = ({ index, effortFallback: told }) => {
  const field = fieldOf(index, 'reasoning_effort');
  if (field === undefined || told === undefined) return NO_EDITS;
  return [told === 'none' ? replace(field.value, '"none"') : remove('fields', field)];
};
