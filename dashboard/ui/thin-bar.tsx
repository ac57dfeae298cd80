import type { ReactElement } from 'react';
import css from './thin-bar.module.css';

/** A bar next to a number with the same value, so it is hidden from screen readers. `className` sets its layout. */
export const ThinBar = (props: { percent: number; className: string | undefined }): ReactElement => (
  <span className={`${css.track} ${props.className}`} aria-hidden="true">
    <span style={{ width: `${props.percent}%` }} />
  </span>
);
