import type { ReactElement } from 'react';
import { moment } from '../../ui/format.ts';
import { useNow } from '../../ui/now.ts';
import { retryWords } from './retry.ts';

/** A countdown to the next attempt, with the exact time on hover. */
export function Retry(props: { at: number }): ReactElement {
  const now = useNow();
  return (
    <time dateTime={new Date(props.at).toISOString()} title={moment(props.at)}>
      {retryWords(props.at, now)}
    </time>
  );
}
