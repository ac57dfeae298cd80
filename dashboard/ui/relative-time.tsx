import type { ReactElement } from 'react';
import { ago, moment } from './format.ts';
import { useNow } from './now.ts';

/** A past time relative to now, with the exact time on hover. A future time (clock skew) shows as "now". */
export function Ago(props: { at: number }): ReactElement {
  const now = useNow();
  return (
    <time dateTime={new Date(props.at).toISOString()} title={moment(props.at)}>
      {ago(Math.min(props.at, now), now)}
    </time>
  );
}
