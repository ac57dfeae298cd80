import { type ReactElement, useRef } from 'react';
import css from './code.module.css';
import { Copy } from './copy.tsx';

/** A block of code or a command with its copy button. */
export function Code(props: { text: string; what: string; title?: string }): ReactElement {
  const shown = useRef<HTMLElement>(null);
  return (
    <div className={css.block}>
      <div className={css.head}>
        <span className={css.title}>{props.title ?? ''}</span>
        <Copy text={props.text} shown={shown} what={props.what} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={css.text} tabIndex={0} aria-label={props.what}>
        <pre>
          <code ref={shown}>{props.text}</code>
        </pre>
      </section>
    </div>
  );
}
