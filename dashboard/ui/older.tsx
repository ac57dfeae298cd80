import type { ReactElement } from 'react';
import { Button } from './button.tsx';
import { Failure } from './failure.tsx';
import { count } from './format.ts';
import { MOST_KEPT } from './kept-rows.ts';
import css from './older.module.css';

/** The way to the page before the last one that is shown. */
export function Older(props: { busy: boolean; onMore: () => void }): ReactElement {
  return (
    <div className={css.older}>
      <Button busy={props.busy} onClick={props.onMore}>
        Show older ones
      </Button>
    </div>
  );
}

/** The end of a log that is read page by page: the way on, why it failed, or why there is none. */
export function OlderRows(props: {
  of: { more: () => void; error: unknown; busy: boolean; end: boolean; full: boolean };
}): ReactElement | null {
  const { more, error, busy, end, full } = props.of;
  if (end) return null;
  if (full) return <p className={css.older}>This page keeps no more than {count(MOST_KEPT)} rows.</p>;
  return (
    <>
      {error === null ? null : <Failure error={error} />}
      <Older busy={busy} onMore={more} />
    </>
  );
}
