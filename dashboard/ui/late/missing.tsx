import type { ReactElement } from 'react';
import type { Served } from '../../api/served.ts';
import { isWorking } from '../../api/under-way.ts';
import { Button } from '../button.tsx';
import css from '../failure.module.css';
import { StateShape } from '../state-badge.tsx';
import { ViewHead } from '../view-head.tsx';

const ADVICE: Readonly<Record<Served, string>> = {
  same: 'A part of the dashboard did not come from the gateway, also not at several tries. Networks that change and proxies in between do that; the gateway itself is not touched by it.',
  newer: 'The dashboard was updated, and its older parts are gone. Load the page again to get the new one.',
  silent: 'The gateway does not answer. This comes by itself once it does.',
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Stands in the place of a part of the dashboard that did not come: what happened, and the ways on. */
export function Missing(props: {
  what: string;
  title: string | undefined;
  served: Served;
  again: () => void;
}): ReactElement {
  const { served } = props;
  return (
    <>
      {props.title === undefined ? null : <ViewHead title={props.title} />}
      <div className={css.failure} role="alert">
        <StateShape tone="failed" />
        <div className={css.words}>
          <p className={css.message}>{capital(props.what)} could not be fetched.</p>
          <p>{ADVICE[served]}</p>
          <p>
            What you typed into the playground stays when the page is loaded again.
            {isWorking() ? ' What is under way there, like an answer that comes in, ends with it.' : ''}
          </p>
          <div className={css.actions}>
            {served === 'newer' ? null : (
              <Button look="main" onClick={props.again}>
                Try again
              </Button>
            )}
            <Button look={served === 'newer' ? 'main' : 'plain'} onClick={() => location.reload()}>
              Load the page again
            </Button>
          </div>
        </div>
      </div>
    </>
  );
}
