import type { ReactElement } from 'react';
import { useConnection } from '../api/connection.ts';
import { useSession } from '../api/session.tsx';
import type { SessionState } from '../api/session-state.ts';
import { Button } from '../ui/button.tsx';
import { timeOfDay } from '../ui/format.ts';
import { StateShape } from '../ui/state-badge.tsx';
import css from './notices.module.css';
import { dismissUpdated, useUpdated } from './updated.ts';

const WORK_IS_SAFE = 'Your work is safe. Log in to continue.';

const LOCKED: Partial<Record<SessionState, { what: string; rest: string; action: string }>> = {
  expired: { what: 'Your session has ended.', rest: WORK_IS_SAFE, action: 'Log in again' },
  enforced: { what: 'The gateway requires a key now.', rest: WORK_IS_SAFE, action: 'Log in with the key' },
  lapsed: {
    what: 'Your session has ended.',
    rest: 'Admin-only data is hidden until you log in.',
    action: 'Log in again',
  },
};

/** Reports that the gateway serves a newer dashboard. */
function UpdatedBar(): ReactElement | null {
  const updated = useUpdated();
  if (updated === 'no') return null;
  const renewed = updated === 'renewed';
  return (
    <div className={css.bar} data-tone={renewed ? 'ok' : 'attention'}>
      <StateShape tone={renewed ? 'ok' : 'attention'} />
      <p>
        <strong>The dashboard was updated.</strong>{' '}
        {renewed
          ? 'This page was reloaded to use the new version.'
          : 'Reload the page to use it. Text in the playground is preserved.'}
      </p>
      {renewed ? (
        <Button variant="quiet" onClick={dismissUpdated}>
          Close
        </Button>
      ) : (
        <Button onClick={() => location.reload()}>Reload page</Button>
      )}
    </div>
  );
}

/** Reports a lost connection or session. The view keeps showing its last data. */
export function Notices(): ReactElement {
  const connection = useConnection();
  const session = useSession();
  const locked = LOCKED[session.sessionState];
  return (
    <div className={css.notices} aria-live="polite">
      {connection.up ? null : (
        <div className={css.bar} data-tone="attention">
          <StateShape tone="busy" />
          <p>
            <strong>Can’t reach the gateway.</strong> Showing data from {timeOfDay(connection.lastResponseAt)}
            . Reconnecting…
          </p>
        </div>
      )}
      <UpdatedBar />
      {locked === undefined ? null : (
        <div className={css.bar} data-tone="attention">
          <StateShape tone="attention" />
          <p>
            <strong>{locked.what}</strong> {locked.rest}
          </p>
          <Button onClick={session.openLogin}>{locked.action}</Button>
        </div>
      )}
    </div>
  );
}
