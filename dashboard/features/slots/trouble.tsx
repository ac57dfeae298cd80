import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { Note } from '../../ui/note.tsx';
import { Retry } from '../shared/retry.tsx';

/** Why a slot failed and what comes next, or why it runs degraded; nothing for one that is well. */
export function Trouble(props: { slot: SlotRecord }): ReactElement | null {
  const { failure, degraded, enabled, model_missing: missing } = props.slot;
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
  if (missing !== undefined) {
    return (
      <Note tone="attention">
        <p>
          Its file names the model <b>{missing}</b>, which is not here.{' '}
          <Link href="/models">Fetch or register it</Link>, or give the slot another one.
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
