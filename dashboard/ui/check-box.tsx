import type { ReactElement, ReactNode } from 'react';
import css from './check-box.module.css';

/** A checkbox with its label. */
export const CheckBox = (props: {
  on: boolean;
  onChange: (on: boolean) => void;
  children: ReactNode;
}): ReactElement => (
  <label className={css.check}>
    <input type="checkbox" checked={props.on} onChange={(event) => props.onChange(event.target.checked)} />
    <span>{props.children}</span>
  </label>
);
