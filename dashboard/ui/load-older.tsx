import type { ReactElement } from 'react';
import { Button } from './button.tsx';
import { Failure } from './failure.tsx';
import { count } from './format.ts';
import css from './load-older.module.css';
import { MAX_ROWS } from './paged-rows.ts';

/** The button that loads the next older page. */
export function Older(props: { busy: boolean; onMore: () => void }): ReactElement {
  return (
    <div className={css.older}>
      <Button busy={props.busy} onClick={props.onMore}>
        Show older entries
      </Button>
    </div>
  );
}

/** The end of a paginated list: the button for older rows, its error, or the limit. */
export function OlderRows(props: {
  of: { more: () => void; error: unknown; busy: boolean; end: boolean; full: boolean };
}): ReactElement | null {
  const { more, error, busy, end, full } = props.of;
  if (end) return null;
  if (full) return <p className={css.older}>This page shows at most {count(MAX_ROWS)} rows.</p>;
  return (
    <>
      {error === null ? null : <Failure error={error} />}
      <Older busy={busy} onMore={more} />
    </>
  );
}
