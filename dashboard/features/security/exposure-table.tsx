import {
  columnFilteringFeature,
  createColumnHelper,
  createFilteredRowModel,
  filterFn_equalsString,
  filterFn_includesString,
  globalFilteringFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { SearchX } from 'lucide-react';
import { type ReactElement, useMemo } from 'react';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { State } from '../../ui/state-badge.tsx';
import base from '../../ui/table.module.css';
import type { ExposureRow, Filters } from './exposure-filters.tsx';
import { REACH_BADGES } from './reach.ts';
import css from './table.module.css';

const features = tableFeatures({
  columnFilteringFeature,
  globalFilteringFeature,
  filteredRowModel: createFilteredRowModel(),
  filterFns: { includesString: filterFn_includesString, equalsString: filterFn_equalsString },
});
/** Columns that are hidden on narrow screens; their content then appears under the route. */
const WIDTHS: Record<string, string | undefined> = { summary: css.wideOnly, auth_class: css.medium };
const helper = createColumnHelper<typeof features, ExposureRow>();

const columns = helper.columns([
  helper.accessor((row) => `${row.pattern} ${row.summary} ${row.label} ${row.methods.join(' ')}`, {
    id: 'route',
    header: 'Route',
    filterFn: 'includesString',
    cell: ({ row }) => (
      <>
        <span className={css.methods}>{row.original.methods.join(' ')}</span>
        <code className={css.path}>{row.original.pattern}</code>
        <span className={css.under}>
          <span className={css.underClass}>{row.original.auth_class} · </span>
          {row.original.summary}
        </span>
      </>
    ),
  }),
  helper.accessor('summary', { header: 'Description', enableGlobalFilter: false }),
  helper.accessor('auth_class', {
    header: 'Class',
    filterFn: 'equalsString',
    enableGlobalFilter: false,
    cell: ({ getValue }) => <span className={css.class}>{getValue()}</span>,
  }),
  helper.accessor((row) => (row.reach === 'none' ? 'none' : 'anonymous'), {
    id: 'reach',
    header: 'Without a key',
    filterFn: 'equalsString',
    enableGlobalFilter: false,
    cell: ({ row }) => {
      const badge = REACH_BADGES[row.original.reach];
      return <State tone={badge.tone}>{badge.word}</State>;
    },
  }),
]);

/** The routes in matching order; routes that need no key are highlighted. */
export function ExposureTable(props: {
  rows: ExposureRow[];
  filters: Filters;
  onReset: () => void;
}): ReactElement {
  const { filters } = props;
  const state = useMemo(
    () => ({
      globalFilter: filters.q,
      columnFilters: [
        ...(filters.class === '' ? [] : [{ id: 'auth_class', value: filters.class }]),
        ...(filters.reach === '' ? [] : [{ id: 'reach', value: filters.reach }]),
      ],
    }),
    [filters.q, filters.class, filters.reach],
  );
  const table = useTable({
    features,
    columns,
    data: props.rows,
    state,
    globalFilterFn: 'includesString',
    getRowId: (row) => row.id,
  });
  const { rows } = table.getRowModel();
  return (
    <>
      <p className="hidden-visually" role="status">
        {rows.length} routes shown
      </p>
      <DataTable
        table={table}
        caption="API access"
        className={`${base.table} ${css.table}`}
        classOf={(id) => WIDTHS[id]}
        marksOf={(row) => ({ 'data-reach': row.reach })}
      />
      {rows.length > 0 ? null : (
        <Empty icon={SearchX} title="No routes match">
          <Button onClick={props.onReset}>Show all routes</Button>
        </Empty>
      )}
    </>
  );
}
