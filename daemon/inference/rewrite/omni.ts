import { type BodyIndex, fieldOf } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { NO_EDITS, remove } from './edits.ts';

/**
 * Deviation 1: `omni` is removed before forwarding, whatever its value
 * (docs/spec/specification.md#deviation-omni).
 */
export const omni: BodyRule = ({ index }) => {
  const field = fieldOf(index, 'omni');
  return field ? [remove('fields', field)] : NO_EDITS;
};

/** Only boolean true opts into the tool loop. */
export const wantsOmni = (index: BodyIndex): boolean => fieldOf(index, 'omni')?.kind === 'true';
