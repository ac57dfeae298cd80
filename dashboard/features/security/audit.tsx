import { useQuery } from '@tanstack/react-query';
import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { ScrollText } from 'lucide-react';
import type { ReactElement } from 'react';
import type { AuditRow } from '../../../daemon/contract/system.ts';
import { call } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { Card } from '../../ui/card.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { HelpMark } from '../../ui/help.tsx';
import { OlderRows } from '../../ui/load-older.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Ago } from '../../ui/relative-time.tsx';
import base from '../../ui/table.module.css';
import { usePagedRows } from '../../ui/use-paged-rows.ts';
import { TERMS } from '../shared/terms.ts';
import { detailsText } from './audit-words.ts';
import css from './table.module.css';

const PAGE = 200;
const TIERS: Readonly<Record<string, string>> = {
  anon: 'without a key',
  client: 'client key',
  admin: 'admin',
};

function who(row: AuditRow): string {
  const tier = row.tier === null ? 'the gateway' : (TIERS[row.tier] ?? row.tier);
  return row.address === null ? tier : `${tier}, ${row.address}`;
}

const features = tableFeatures({});
const helper = createColumnHelper<typeof features, AuditRow>();
const WIDTHS: Readonly<Record<string, string | undefined>> = { at: base.whole, who: css.medium };
const columns = helper.columns([
  helper.accessor('at', { header: 'When', cell: ({ getValue }) => <Ago at={Date.parse(getValue())} /> }),
  helper.accessor('action', {
    header: 'Action',
    cell: ({ row: { original } }) => (
      <>
        <code className={css.path}>{original.action}</code>
        <span className={css.details}>{detailsText(original.details)}</span>
        <span className={css.underWho}>{who(original)}</span>
      </>
    ),
  }),
  helper.accessor((row) => who(row), { id: 'who', header: 'Who' }),
]);

function AuditTable(props: { rows: readonly AuditRow[] }): ReactElement {
  const trail = useTable({
    features,
    columns,
    data: props.rows,
    getRowId: (row) => String(row.id),
  });
  return (
    <DataTable
      table={trail}
      caption="Audit trail"
      className={`${base.table} ${css.table}`}
      classOf={(id) => WIDTHS[id]}
    />
  );
}

const idOf = ({ id }: AuditRow): number => id;
const readOlder = (before: number): Promise<AuditRow[]> =>
  call('audit', { query: { before: String(before), limit: String(PAGE) } }).then(({ entries }) => entries);

/** The audit trail. It never contains keys. */
export function Audit(): ReactElement {
  const audit = useQuery(queries.audit);
  const trail = usePagedRows({ newest: audit.data?.entries, page: PAGE, idOf, read: readOlder });
  return (
    <Card title="Audit trail" help={<HelpMark term={TERMS.tier} />} flush>
      <Loaded query={audit} what="the audit trail" lines={6}>
        {() => {
          if (trail.rows.length === 0) {
            return (
              <Empty icon={ScrollText} title="No activity yet">
                <p>Logins, key rotations, setting changes and slot actions appear here.</p>
              </Empty>
            );
          }
          return (
            <>
              <AuditTable rows={trail.rows} />
              <OlderRows of={trail.older} />
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}
