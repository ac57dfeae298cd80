import type { ReactElement } from 'react';
import { useConnection } from '../api/connection.ts';
import type { Gate } from '../api/gate.ts';
import { useSession } from '../api/session.tsx';
import { Button } from '../ui/button.tsx';
import { timeOfDay } from '../ui/format.ts';
import { StateShape } from '../ui/state-badge.tsx';
import css from './notices.module.css';

const LOCKED: Partial<Record<Gate, { what: string; action: string }>> = {
  expired: { what: 'Your session has ended.', action: 'Log in again' },
  enforced: { what: 'The gateway requires a key now.', action: 'Log in with the key' },
};

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
      {locked === undefined ? null : (
        <div className={css.bar} data-tone="attention">
          <StateShape tone="attention" />
          <p>
            <strong>{locked.what}</strong> This page and what you typed stay; log in to go on.
          </p>
          <Button onClick={session.ask}>{locked.action}</Button>
        </div>
      )}
    </div>
  );
}
