import type { ReactElement } from 'react';
import { ago, moment } from './format.ts';
import { useNow } from './now.ts';

/** A past moment (Unix milliseconds) told relatively, with the exact one on hover; a clock that runs ahead reads "now". */
export function Ago(props: { at: number }): ReactElement {
  const now = useNow();
  return (
    <time dateTime={new Date(props.at).toISOString()} title={moment(props.at)}>
      {ago(Math.min(props.at, now), now)}
    </time>
  );
}
