import { useQuery } from '@tanstack/react-query';
import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { Cookie } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import type { SessionRow } from '../../../daemon/contract/auth.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { moment, steadyDuration } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { useNow } from '../../ui/now.ts';
import { Ago } from '../../ui/relative-time.tsx';
import { State } from '../../ui/state-badge.tsx';
import base from '../../ui/table.module.css';
import css from './table.module.css';

function Ends(props: { at: number }): ReactElement {
  const now = useNow();
  return (
    <time dateTime={new Date(props.at).toISOString()} title={moment(props.at)}>
      in {steadyDuration(props.at - now)}
    </time>
  );
}

const features = tableFeatures({});
const helper = createColumnHelper<typeof features, SessionRow>();
const columns = helper.columns([
  helper.accessor('id8', {
    header: 'Session',
    cell: ({ row, getValue }) => (
      <>
        <code>{getValue()}</code> {row.original.current ? <State tone="ok">This browser</State> : null}
      </>
    ),
  }),
  helper.accessor('created_at', {
    header: 'Started',
    cell: ({ getValue }) => <Ago at={getValue() * 1000} />,
  }),
  helper.accessor('expires_at', { header: 'Ends', cell: ({ getValue }) => <Ends at={getValue() * 1000} /> }),
]);

function SessionTable(props: { rows: SessionRow[] }): ReactElement {
  const sessions = useTable({ features, columns, data: props.rows });
  return <DataTable table={sessions} caption="Sessions" className={`${base.table} ${css.table}`} />;
}

function EndAll(props: { rows: readonly SessionRow[] }): ReactElement {
  const session = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const many = props.rows.length;
  const end = useAction({
    send: () => call('auth.sessions.end'),
    onSuccess: () => void session.onSessionsEnded(),
    onDone: () => setIsOpen(false),
  });
  const open = (): void => {
    end.reset();
    setIsOpen(true);
  };
  return (
    <>
      <Button variant="danger" disabled={many === 0} onClick={open}>
        End all sessions…
      </Button>
      <Confirm
        open={isOpen}
        title="End all sessions?"
        action="End all sessions"
        danger
        busy={end.isPending}
        error={end.error}
        onConfirm={() => end.mutate()}
        onClose={() => setIsOpen(false)}
      >
        <p>
          {many === 1 ? 'The session' : `All ${many} sessions`} will end immediately
          {props.rows.some((row) => row.current) ? ', including this browser' : ''}. Logging in again needs
          the admin key. The keys do not change.
        </p>
      </Confirm>
    </>
  );
}

/** Active sessions, with an action to end them. */
export function Sessions(): ReactElement {
  const sessions = useQuery(queries.sessions);
  return (
    <Card title="Sessions" flush aside={sessions.data ? <EndAll rows={sessions.data} /> : undefined}>
      <Loaded query={sessions} what="sessions">
        {(rows) =>
          rows.length > 0 ? (
            <SessionTable rows={rows} />
          ) : (
            <Empty icon={Cookie} title="No active sessions">
              <p>
                A login with the admin key creates a session of eight hours. API keys don’t create sessions.
              </p>
            </Empty>
          )
        }
      </Loaded>
    </Card>
  );
}
