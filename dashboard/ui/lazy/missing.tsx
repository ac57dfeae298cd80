import type { ReactElement } from 'react';
import { isBusy } from '../../api/busy.ts';
import type { ServedVersion } from '../../api/dashboard-version.ts';
import { Button } from '../button.tsx';
import css from '../failure.module.css';
import { StateShape } from '../state-badge.tsx';
import { ViewHead } from '../view-head.tsx';

const ADVICE: Readonly<Record<ServedVersion, string>> = {
  same: 'Part of the dashboard could not be loaded. A changing network or a proxy can cause this. The gateway is still running.',
  newer: 'The dashboard was updated, and its older parts are gone. Reload the page to use the new version.',
  silent: 'Can’t reach the gateway. This loads as soon as the gateway is back.',
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Shown in place of a missing part: what happened and the next steps. */
export function Missing(props: {
  what: string;
  title: string | undefined;
  served: ServedVersion;
  again: () => void;
}): ReactElement {
  const { served } = props;
  return (
    <>
      {props.title === undefined ? null : <ViewHead title={props.title} />}
      <div className={css.failure} role="alert">
        <StateShape tone="failed" />
        <div className={css.words}>
          <p className={css.message}>{capital(props.what)} could not be loaded.</p>
          <p>{ADVICE[served]}</p>
          <p>
            Text in the playground is preserved when you reload the page.
            {isBusy() ? ' A running request, such as a streaming answer, is interrupted.' : ''}
          </p>
          <div className={css.actions}>
            <Button variant="main" onClick={props.again}>
              {served === 'newer' ? 'Reload page' : 'Try again'}
            </Button>
          </div>
        </div>
      </div>
    </>
  );
}
