import { stringAt } from '../../lib/json/byte-scanner.ts';
import type { EffortRequest } from '../forward/effort-support.ts';
import { type BodyIndex, fieldOf } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { NO_EDITS, remove, replace } from './edits.ts';

/** Returns the effort of a chat that was translated from another API; null when it requests none. */
export function effortOf(index: BodyIndex): Pick<EffortRequest, 'effort' | 'tools'> | null {
  const field = fieldOf(index, 'reasoning_effort');
  if (field?.kind !== 'string') return null;
  return { effort: stringAt(index.bytes, field.value), tools: fieldOf(index, 'tools') !== undefined };
}

/** Replaces or removes an effort that the target refuses. A chat that is not translated stays unchanged. */
export const effort: BodyRule = ({ index, effortFallback: fallback }) => {
  const field = fieldOf(index, 'reasoning_effort');
  if (field === undefined || fallback === undefined) return NO_EDITS;
  return [fallback === 'none' ? replace(field.value, '"none"') : remove('fields', field)];
};
