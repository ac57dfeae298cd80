import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { type ReactElement, useEffect, useMemo, useRef } from 'react';
import type { RequestRecord } from '../../../daemon/contract/system.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { count, duration, steadyDuration } from '../../ui/format.ts';
import { useNow } from '../../ui/now.ts';
import { Ago } from '../../ui/relative-time.tsx';
import { State } from '../../ui/state-badge.tsx';
import table from '../../ui/table.module.css';
import { callerWords } from './caller-words.ts';
import { Cancel } from './cancel.tsx';
import { requestBadge, timesOf } from './request-badge.ts';
import css from './requests.module.css';

const features = tableFeatures({});
const helper = createColumnHelper<typeof features, RequestRecord>();
const NUMBERS = new Set(['ttft_ms', 'duration_ms', 'tokens']);
/** Columns that are hidden on narrow screens, and those hidden earlier; the detail view shows them. */
const WIDE_ONLY = new Set(['at', 'by', 'duration_ms']);
const VERY_WIDE_ONLY = new Set(['ttft_ms', 'tokens', 'caller']);

const time = (ms: number | null): string => (ms === null ? '–' : duration(ms));

function tokens({ prompt_tokens: input, completion_tokens: output }: RequestRecord): string {
  if (input === null && output === null) return '–';
  return `${input === null ? '–' : count(input)} → ${output === null ? '–' : count(output)}`;
}

/** How long a request has been running. */
function Elapsed(props: { since: string }): ReactElement {
  const now = useNow();
  return <>{steadyDuration(Math.max(0, now - Date.parse(props.since)))}</>;
}

function columnsFor(open: (id: string) => void) {
  return helper.columns([
    helper.accessor('model', {
      header: 'Model and route',
      cell: ({ row: { original } }) => (
        <>
          <button type="button" className={css.open} onClick={() => open(original.id)}>
            {original.model ?? original.asked ?? '(no model)'}
          </button>
          <span className={css.route}>{original.route}</span>
          <span className={css.underTime}>
            <Ago at={Date.parse(original.at)} />
            {callerWords(original) === null ? '' : ` · ${callerWords(original)}`}
          </span>
        </>
      ),
    }),
    helper.accessor('at', { header: 'When', cell: ({ getValue }) => <Ago at={Date.parse(getValue())} /> }),
    helper.accessor((row) => callerWords(row) ?? '–', { id: 'caller', header: 'Caller' }),
    helper.accessor((row) => row.slot ?? row.upstream ?? '–', { id: 'by', header: 'Served by' }),
    helper.accessor('status', {
      header: 'Result',
      cell: ({ row: { original } }) => {
        const badge = requestBadge(original);
        return (
          <span className={css.result}>
            <State tone={badge.tone}>{badge.word}</State>
            {original.state === 'running' ? <Cancel request={original} small /> : null}
          </span>
        );
      },
    }),
    helper.accessor((row) => timesOf(row).first, {
      id: 'ttft_ms',
      header: 'First token',
      cell: ({ getValue }) => time(getValue()),
    }),
    helper.accessor('duration_ms', {
      header: 'Total',
      cell: ({ row: { original } }) =>
        original.state === 'running' ? <Elapsed since={original.at} /> : time(original.duration_ms),
    }),
    helper.accessor((row) => tokens(row), { id: 'tokens', header: 'Tokens in → out' }),
  ]);
}

const classOf = (id: string): string =>
  [
    NUMBERS.has(id) ? table.number : '',
    WIDE_ONLY.has(id) ? css.wideOnly : '',
    VERY_WIDE_ONLY.has(id) ? css.spare : '',
    id === 'at' ? table.whole : '',
  ].join(' ');

/** Requests, newest first; each opens its details. */
export function RequestTable(props: { rows: RequestRecord[]; open: (id: string) => void }): ReactElement {
  const { open } = props;
  const latest = useRef(open);
  useEffect(() => {
    latest.current = open;
  }, [open]);
  // Stable columns: new ones at each refresh would recreate the cells and lose the focus.
  const columns = useMemo(() => columnsFor((id) => latest.current(id)), []);
  const requests = useTable({
    features,
    columns,
    data: props.rows,
    getRowId: (row) => row.id,
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={`${table.scroll} ${css.place}`} tabIndex={0} aria-label="List of requests">
      <DataTable
        table={requests}
        caption="Requests"
        className={`${table.table} ${css.requests}`}
        classOf={classOf}
      />
    </section>
  );
}
