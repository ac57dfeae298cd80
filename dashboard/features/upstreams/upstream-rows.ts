import { UPSTREAM_KINDS } from '../../../daemon/contract/upstream-kinds.ts';
import type { UpstreamField, UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { type Draft, type FieldKind, type FieldRow, textOf } from '../../ui/form/draft.ts';

type Row = readonly [label: string, kind: FieldKind, help: string];

/** Every key of an upstream in plain words; a key of the daemon without a row does not compile. */
const FIELDS: Record<UpstreamField, Row> = {
  base_url: ['Address', 'text', 'As OpenAI clients take it, mostly with /v1 at its end'],
  kind: ['Kind', 'choice', 'What serves there'],
  key_env: [
    'Key variable',
    'text',
    'Name of the variable in api.env that holds the key, UPSTREAM_…; never the key',
  ],
  priority: ['Priority', 'number', 'Smaller comes first'],
  enabled: ['Enabled', 'flag', 'Whether it may be asked'],
  remote: ['Somebody else’s', 'flag', 'A provider outside the own network; else decided from the address'],
  local_first: ['Local first', 'flag', 'It stands behind every upstream of the own network'],
  daily_requests: ['Requests per day', 'number', 'Most requests per day (UTC)'],
  header: ['Header of the key', 'text', 'Only where it is not Authorization: Bearer'],
  include: ['Only these models', 'list', 'Patterns, one per line; * means anything'],
  exclude: ['Not these models', 'list', 'Patterns, one per line; * means anything'],
  models: ['Fixed list of models', 'list', 'In place of its own list, one id per line'],
  connect_timeout_s: ['Seconds to connect', 'number', 'Else the setting of the gateway counts'],
  idle_timeout_s: ['Seconds of silence', 'number', 'Longest silence during an answer'],
};
const FIRST: ReadonlySet<string> = new Set(['base_url', 'kind', 'key_env', 'priority']);
const NAME: FieldRow = {
  key: 'name',
  label: 'Name',
  kind: 'text',
  help: 'a-z, 0-9, - and _, at most 32',
  required: true,
  placeholder: 'such as desk',
};
/** What empty fields show that have no default. */
const PLACEHOLDERS: Partial<Record<UpstreamField, string>> = {
  base_url: 'such as http://desk:8000/v1',
  key_env: 'none',
  daily_requests: 'no limit',
  header: 'Authorization: Bearer',
  include: 'all',
  exclude: 'none',
};
const placeholderOf = (key: string): Partial<FieldRow> => {
  const placeholder = PLACEHOLDERS[key as UpstreamField];
  return placeholder === undefined ? {} : { placeholder };
};

/** The fields of an upstream. */
export function upstreamRows(create: boolean): { rows: FieldRow[]; more: FieldRow[] } {
  const all = Object.entries(FIELDS).map(
    ([key, [label, kind, help]]): FieldRow => ({
      key,
      label,
      kind,
      help,
      ...placeholderOf(key),
      ...(key === 'base_url' ? { required: true } : {}),
      ...(key === 'kind' ? { choices: UPSTREAM_KINDS } : {}),
    }),
  );
  return {
    rows: [...(create ? [NAME] : []), ...all.filter(({ key }) => FIRST.has(key))],
    more: all.filter(({ key }) => !FIRST.has(key)),
  };
}

/** What an upstream has now; its fixed list of models is not told by any answer. */
export function upstreamBaseline(upstream: UpstreamRecord): Draft {
  const { rows, more } = upstreamRows(false);
  const values = upstream as unknown as Record<string, unknown>;
  return Object.fromEntries(
    [...rows, ...more].filter(({ key }) => key !== 'models').map(({ key }) => [key, textOf(values[key])]),
  );
}
