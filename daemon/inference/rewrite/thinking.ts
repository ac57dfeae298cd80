import { type BodyIndex, type Field, fieldOf } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { type Edit, insertField, NO_EDITS, remove, replace } from './edits.ts';

/**
 * Deviation 5: a boolean `enable_thinking` moves into `chat_template_kwargs`, where an existing value wins;
 * when both are missing the default is filled in (docs/spec/specification.md#deviation-thinking,
 * docs/spec/contract.md#thinking). A remote provider gets neither field.
 */
export const thinking: BodyRule = ({ index, local, thinkingDefault }) => {
  const flag = fieldOf(index, 'enable_thinking');
  const kwargs = fieldOf(index, 'chat_template_kwargs');
  if (!local) return [flag, kwargs].flatMap((field) => (field ? [remove('fields', field)] : []));
  const flagged = flagValue(flag);
  if (flagged === undefined) return NO_EDITS;
  const moved = flag ? [remove('fields', flag)] : NO_EDITS;
  const value = flagged ?? thinkingDefault();
  return value === null ? moved : [...moved, ...fill(index, kwargs, value)];
};

/**
 * Returns the caller's flag; null when it is not set, undefined for a value that the gateway does not
 * interpret.
 */
function flagValue(flag: Field | undefined): boolean | null | undefined {
  if (flag === undefined || flag.kind === 'null') return null;
  if (flag.kind === 'true' || flag.kind === 'false') return flag.kind === 'true';
  return undefined;
}

function fill(index: BodyIndex, kwargs: Field | undefined, value: boolean): Edit[] {
  if (kwargs === undefined) return [insertField('chat_template_kwargs', { enable_thinking: value })];
  if (kwargs.kind === 'null') return [replace(kwargs.value, JSON.stringify({ enable_thinking: value }))];
  if (kwargs.kind !== 'object') return [];
  const { start, end } = kwargs.value;
  const existing = JSON.parse(index.bytes.toString('utf8', start, end)) as Record<string, unknown>;
  if (Object.hasOwn(existing, 'enable_thinking')) return [];
  const comma = Object.keys(existing).length > 0 ? ',' : '';
  return [replace({ start: start + 1, end: start + 1 }, `"enable_thinking":${value}${comma}`)];
}
