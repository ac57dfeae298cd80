import type { ReactElement } from 'react';
import { useConnection } from '../api/connection.ts';
import type { Gate } from '../api/gate.ts';
import { useSession } from '../api/session.tsx';
import { Button } from '../ui/button.tsx';
import { timeOfDay } from '../ui/format.ts';
import { StateShape } from '../ui/state-badge.tsx';
import css from './notices.module.css';
import { dismissUpdated, useUpdated } from './updated.ts';

const KEPT = 'This page and what you typed stay; log in to go on.';

const LOCKED: Partial<Record<Gate, { what: string; rest: string; action: string }>> = {
  expired: { what: 'Your session has ended.', rest: KEPT, action: 'Log in again' },
  enforced: { what: 'The gateway requires a key now.', rest: KEPT, action: 'Log in with the key' },
  lapsed: {
    what: 'Your session has ended.',
    rest: 'What needs the admin key from another machine is not read any more; the rest goes on.',
    action: 'Log in again',
  },
};

/** What became of this page when the gateway brought a newer dashboard. */
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
          ? 'This page was loaded again to get the new one.'
          : 'Load the page again to get the new one; what you typed into the playground stays.'}
      </p>
      {renewed ? (
        <Button look="quiet" onClick={dismissUpdated}>
          Close
        </Button>
      ) : (
        <Button onClick={() => location.reload()}>Load again</Button>
      )}
    </div>
  );
}

/** What makes the view below old: no connection, or no way in. Nothing on the view is cleared meanwhile. */
export function Notices(): ReactElement {
  const connection = useConnection();
  const session = useSession();
  const locked = LOCKED[session.gate];
  return (
    <div className={css.notices} aria-live="polite">
      {connection.up ? null : (
        <div className={css.bar} data-tone="attention">
          <StateShape tone="busy" />
          <p>
            <strong>The gateway does not answer.</strong> You see what was true at{' '}
            {timeOfDay(connection.seen)}; the page comes back by itself.
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
          <Button onClick={session.ask}>{locked.action}</Button>
        </div>
      )}
    </div>
  );
}
