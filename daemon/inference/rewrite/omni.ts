import { type BodyPicture, fieldOf } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { NO_EDITS, remove } from './edits.ts';

/**
 * Deviation 1: `omni` is removed before forwarding, whatever its value
 * (docs/spec/specification.md#deviation-omni).
 */
export const omni: BodyRule = ({ picture }) => {
  const field = fieldOf(picture, 'omni');
  return field ? [remove('fields', field)] : NO_EDITS;
};

/** Only boolean true opts into the tool loop. */
export const wantsOmni = (picture: BodyPicture): boolean => fieldOf(picture, 'omni')?.kind === 'true';
