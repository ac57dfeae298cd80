import type { ReactElement } from 'react';
import css from './thin-bar.module.css';

/** A length beside a number that says the same, so nobody is told of it twice; `className` is its place. */
export const ThinBar = (props: { percent: number; className: string | undefined }): ReactElement => (
  <span className={`${css.track} ${props.className}`} aria-hidden="true">
    <span style={{ width: `${props.percent}%` }} />
  </span>
);
