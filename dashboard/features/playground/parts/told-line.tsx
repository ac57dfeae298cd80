import { type ReactElement, useRef } from 'react';
import { Copy } from '../../../ui/copy.tsx';
import { duration } from '../../../ui/format.ts';
import type { Told } from './ask.ts';
import css from './told-line.module.css';

/** Server, duration, counts and request id of a response. */
export function ToldLine(props: { told: Told; more?: readonly (string | null)[] }): ReactElement {
  const { told } = props;
  const id = useRef<HTMLElement>(null);
  const parts = [told.by, ...(props.more ?? []), `total ${duration(told.ms)}`];
  return (
    <p className={css.line}>
      <span>{parts.filter(Boolean).join(' · ')}</span>
      {told.requestId === null ? null : (
        <span className={css.id}>
          <code ref={id}>{told.requestId}</code>
          <Copy text={told.requestId} shown={id} what="the request id" />
        </span>
      )}
    </p>
  );
}
