import type { ReactElement } from 'react';
import { moment } from '../../ui/format.ts';
import { useNow } from '../../ui/now.ts';
import { retryWords } from './retry.ts';

/** When something that failed is tried again, counted down; the exact moment on hover. */
export function Retry(props: { at: number }): ReactElement {
  const now = useNow();
  return (
    <time dateTime={new Date(props.at).toISOString()} title={moment(props.at)}>
      {retryWords(props.at, now)}
    </time>
  );
}
