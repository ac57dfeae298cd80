import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { Note } from '../../ui/note.tsx';
import { Retry } from '../shared/retry.tsx';

/**
 * Why a slot failed or is degraded, or which changes of its file wait, and the next step. Renders nothing for a healthy
 * slot.
 */
export function Trouble(props: { slot: SlotRecord }): ReactElement | null {
  const { failure, degraded, enabled, model_missing: missing, pending } = props.slot;
  if (!enabled) return null;
  if (failure !== null) {
    return (
      <Note tone="failed">
        <p>{failure.reason}</p>
        <p>
          {failure.failures > 1 ? `Failed ${failure.failures} times. ` : ''}
          {failure.parked ? 'Stopped after repeated failures. Fix the cause, then load it.' : null}
          {failure.retry_at === null ? null : <Retry at={failure.retry_at} />}
        </p>
      </Note>
    );
  }
  if (missing !== undefined) {
    return (
      <Note tone="attention">
        <p>
          The configured model <b>{missing}</b> is not installed.{' '}
          <Link href="/models">Download or add it</Link>, or swap the slot to another model.
        </p>
      </Note>
    );
  }
  if (degraded === null && pending !== undefined) {
    return (
      <Note tone="attention">
        <p>
          Changed in the slot file: <b>{pending.join(', ')}</b>. Restart the slot to apply it.
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
