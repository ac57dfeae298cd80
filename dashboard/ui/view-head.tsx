import type { ReactElement, ReactNode } from 'react';
import css from './view-head.module.css';

/** The heading of a view with its actions to the right. */
export function ViewHead(props: { title: string; children?: ReactNode }): ReactElement {
  return (
    <div className={css.head}>
      <h1>{props.title}</h1>
      {props.children === undefined ? null : <div className={css.acts}>{props.children}</div>}
    </div>
  );
}
