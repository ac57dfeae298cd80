import { type ReactElement, useRef } from 'react';
import css from './command.module.css';
import { Copy } from './copy.tsx';

/** A command line with a copy button; long ones wrap. */
export function Command(props: { text: string; what: string }): ReactElement {
  const shown = useRef<HTMLElement>(null);
  return (
    <div className={css.line}>
      <code ref={shown}>{props.text}</code>
      <Copy text={props.text} shown={shown} what={props.what} />
    </div>
  );
}
