import { useMutation, useQuery } from '@tanstack/react-query';
import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { ScrollText } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import type { AuditRow } from '../../../daemon/contract/system.ts';
import { call } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { Ago } from '../../ui/ago.tsx';
import { Card } from '../../ui/card.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Older } from '../../ui/older.tsx';
import base from '../../ui/table.module.css';
import { detailsText } from './audit-words.ts';
import css from './table.module.css';

const PAGE = 200;
const TIERS: Readonly<Record<string, string>> = {
  anon: 'without a key',
  client: 'client key',
  admin: 'admin',
};

function who(row: AuditRow): string {
  const tier = row.tier === null ? 'the gateway itself' : (TIERS[row.tier] ?? row.tier);
  return row.address === null ? tier : `${tier}, ${row.address}`;
}

const features = tableFeatures({});
const helper = createColumnHelper<typeof features, AuditRow>();
const WIDTHS: Readonly<Record<string, string | undefined>> = { at: base.whole, who: css.medium };
const columns = helper.columns([
  helper.accessor('at', { header: 'When', cell: ({ getValue }) => <Ago at={Date.parse(getValue())} /> }),
  helper.accessor('action', {
    header: 'What',
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

function AuditTable(props: { rows: AuditRow[] }): ReactElement {
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

/** Pages before the newest one, read when they are asked for. */
function useOlder() {
  const [rows, setRows] = useState<AuditRow[]>([]);
  const [end, setEnd] = useState(false);
  const more = useMutation({
    mutationFn: (before: number) => call('audit', { query: { before: String(before), limit: String(PAGE) } }),
    onSuccess: ({ entries }) => {
      setRows((was) => [...was, ...entries]);
      setEnd(entries.length < PAGE);
    },
  });
  return { rows, end, more };
}

/** Who changed what, and when; never a key. */
export function Audit(): ReactElement {
  const audit = useQuery(queries.audit);
  const older = useOlder();
  return (
    <Card title="Audit trail" flush>
      <Loaded query={audit} what="the audit trail" lines={6}>
        {({ entries }) => {
          const known = new Set(entries.map(({ id }) => id));
          const rows = [...entries, ...older.rows.filter(({ id }) => !known.has(id))];
          const last = rows.at(-1);
          if (last === undefined) {
            return (
              <Empty icon={ScrollText} title="Nothing was changed yet">
                <p>Logins, rotated keys, changed settings, and what is done with slots are kept here.</p>
              </Empty>
            );
          }
          return (
            <>
              <AuditTable rows={rows} />
              {older.more.error === null ? null : <Failure error={older.more.error} />}
              {older.end || entries.length < PAGE ? null : (
                <Older busy={older.more.isPending} onMore={() => older.more.mutate(last.id)} />
              )}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}
