import type { ReactElement } from 'react';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { Note } from '../../ui/note.tsx';
import { useNow } from '../../ui/now.ts';

function Retry(props: { at: number }): ReactElement {
  const now = useNow();
  const left = Math.ceil((props.at - now) / 1000);
  return <>{left > 0 ? `It is tried again in ${left} s.` : 'It is tried again as soon as it can be.'}</>;
}

/** Why a slot failed and what comes next, or why it runs degraded; nothing for one that is well. */
export function Trouble(props: { slot: SlotRecord }): ReactElement | null {
  const { failure, degraded, enabled } = props.slot;
  if (!enabled) return null;
  if (failure !== null) {
    return (
      <Note tone="failed">
        <p>{failure.reason}</p>
        <p>
          {failure.failures > 1 ? `It has failed ${failure.failures} times. ` : ''}
          {failure.parked ? 'It is parked: mend the cause, then load it by hand.' : null}
          {failure.retry_at === null ? null : <Retry at={failure.retry_at} />}
        </p>
      </Note>
    );
  }
  if (degraded === null) return null;
  return (
    <Note tone="attention">
      <p>Degraded: {degraded}</p>
    </Note>
  );
}
