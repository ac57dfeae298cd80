import type { Range } from '../../lib/json/byte-scanner.ts';
import { asObject, type Json, parsed } from '../dialects/json.ts';
import { type BodyIndex, fieldOf, wantsStream } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { insertField, NO_EDITS, replace } from './edits.ts';

const NAME = 'stream_options';
/** Maximum bytes of `stream_options`; known ones have two fields. */
const MAX_BYTES = 4_096;

/** Returns whether the caller requests the token counts of a stream. */
export const includesUsage = (index: BodyIndex): boolean => optionsOf(index)?.include_usage === true;

/**
 * Requests the token counts of a stream from an upstream, which would not report them otherwise. The event
 * that contains them is removed from the response. A value that is not an object stays for the upstream to
 * refuse.
 */
export const streamUsage: BodyRule = ({ index, streamUsage: isNeeded }) => {
  if (isNeeded !== true || !wantsStream(index)) return NO_EDITS;
  const field = fieldOf(index, NAME);
  if (field === undefined) return [insertField(NAME, { include_usage: true })];
  if (field.kind === 'null') return [replace(field.value, JSON.stringify({ include_usage: true }))];
  const options = optionsOf(index);
  if (options === undefined || options.include_usage === true) return NO_EDITS;
  return [replace(field.value, JSON.stringify({ ...options, include_usage: true }))];
};

function optionsOf(index: BodyIndex): Json | undefined {
  const field = fieldOf(index, NAME);
  if (field?.kind !== 'object' || size(field.value) > MAX_BYTES) return undefined;
  return asObject(parsed(index.bytes.toString('utf8', field.value.start, field.value.end)));
}

const size = ({ start, end }: Range): number => end - start;
