import { type ReactElement, type ReactNode, useId } from 'react';
import css from './card.module.css';

/** A section of a view with a heading. */
export function Card(props: {
  title: string;
  /** A "?" that explains the title. */
  help?: ReactNode;
  /** Shown to the right of the heading. */
  aside?: ReactNode;
  /** Removes the padding, for tables and lists. */
  flush?: boolean;
  children: ReactNode;
}): ReactElement {
  const id = useId();
  return (
    <section className={css.card} aria-labelledby={id}>
      <header className={css.head}>
        <div className={css.title}>
          <h2 id={id}>{props.title}</h2>
          {props.help}
        </div>
        {props.aside === undefined ? null : <div className={css.aside}>{props.aside}</div>}
      </header>
      <div className={props.flush ? css.flush : css.body}>{props.children}</div>
    </section>
  );
}
