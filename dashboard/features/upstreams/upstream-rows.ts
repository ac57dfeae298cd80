import { UPSTREAM_KINDS } from '../../../daemon/contract/upstream-kinds.ts';
import type { UpstreamField, UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { type Draft, type FieldKind, type FieldRow, textOf } from '../../ui/form/draft.ts';

type Row = readonly [label: string, kind: FieldKind, help: string];

/** Label, kind and help of each upstream key. A key of the daemon without a row does not compile. */
const FIELDS: Record<UpstreamField, Row> = {
  base_url: ['Address', 'text', 'Base URL, usually ending in /v1'],
  kind: ['Kind', 'choice', 'Server type'],
  key_env: ['Key variable', 'text', 'Environment variable holding the key (UPSTREAM_…), not the key itself'],
  priority: ['Priority', 'number', 'Lower numbers are tried first'],
  enabled: ['Enabled', 'flag', 'Whether it receives requests'],
  remote: ['External provider', 'flag', 'Outside your network; detected from the address if not set'],
  local_first: ['Local first', 'flag', 'Use it only after the upstreams in your network'],
  daily_requests: ['Requests per day', 'number', 'Maximum requests per day (UTC)'],
  header: ['Key header', 'text', 'Only if it is not Authorization: Bearer'],
  include: ['Only these models', 'list', 'Patterns, one per line; * matches anything'],
  exclude: ['Excluded models', 'list', 'Patterns, one per line; * matches anything'],
  models: ['Fixed model list', 'list', 'Used instead of its own list, one id per line'],
  weight: ['Weight', 'number', 'Share of the requests among upstreams of the same priority; 1 by default'],
  stream_usage: ['Token counts of streams', 'flag', 'Off for a server that refuses stream_options'],
  send_app_name: ['Send app names', 'flag', 'Its request log then shows which app called'],
  hang_probe: ['Probes while requests wait', 'flag', 'Off for a server that answers one request at a time'],
  connect_timeout_s: ['Connect timeout (seconds)', 'number', 'Default: the gateway setting'],
  idle_timeout_s: ['Idle timeout (seconds)', 'number', 'Longest silence during a response'],
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
/** Placeholders of fields without a default. */
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

/** Form fields of an upstream. */
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

/** The current settings of an upstream as field values. No response includes its fixed model list. */
export function upstreamBaseline(upstream: UpstreamRecord): Draft {
  const { rows, more } = upstreamRows(false);
  const values = upstream as unknown as Record<string, unknown>;
  return Object.fromEntries(
    [...rows, ...more].filter(({ key }) => key !== 'models').map(({ key }) => [key, textOf(values[key])]),
  );
}
