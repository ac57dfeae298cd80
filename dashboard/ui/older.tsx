import type { ReactElement } from 'react';
import { Button } from './button.tsx';
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
