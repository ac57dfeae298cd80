import type { ReactElement, ReactNode } from 'react';
import css from './facts.module.css';

/** Names and values; what is not known (null) stays out. */
export function Facts(props: {
  rows: readonly (readonly [name: string, value: ReactNode | null])[];
  /** Several pairs in a row where there is room. */
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
