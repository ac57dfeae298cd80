import type { ReactElement, ReactNode } from 'react';
import css from './property-list.module.css';

/** A list of names and values; omits null values. */
export function Facts(props: {
  rows: readonly (readonly [name: string, value: ReactNode | null])[];
  /** Places several pairs in a row when there is space. */
  wide?: boolean;
}): ReactElement {
  return (
    <dl className={props.wide ? css.wide : css.facts}>
      {props.rows
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
