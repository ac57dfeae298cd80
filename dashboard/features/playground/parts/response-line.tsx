import { type ReactElement, useRef } from 'react';
import { Copy } from '../../../ui/copy.tsx';
import { duration } from '../../../ui/format.ts';
import type { ResponseMeta } from './request.ts';
import css from './response-line.module.css';

/** Server, duration, counts and request id of a response. */
export function ResponseLine(props: { meta: ResponseMeta; more?: readonly (string | null)[] }): ReactElement {
  const { meta } = props;
  const id = useRef<HTMLElement>(null);
  const parts = [meta.by, ...(props.more ?? []), `total ${duration(meta.ms)}`];
  return (
    <p className={css.line}>
      <span>{parts.filter(Boolean).join(' · ')}</span>
      {meta.requestId === null ? null : (
        <span className={css.id}>
          <code ref={id}>{meta.requestId}</code>
          <Copy text={meta.requestId} shown={id} what="the request id" />
        </span>
      )}
    </p>
  );
}
