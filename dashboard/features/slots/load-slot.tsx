import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { queries } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { byteSize } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { listed } from '../shared/forecast.ts';
import { LoadForecast } from './load-forecast.tsx';
import type { SlotDialogProps } from './slot-dialog-props.ts';
import { useSlotAction } from './use-slot-action.ts';

/** Confirms a load; shows the memory sum and the slots that it unloads first. */
export function LoadSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const plan = useQuery(queries.plan(slot.name));
  const load = useSlotAction('slot.load', onClose);
  const refused = plan.data?.forecast.outcome === 'refused';
  return (
    <Confirm
      open
      title={`Load ${plan.data?.model ?? slot.model ?? 'the model'} into slot ${slot.name}?`}
      action="Load model"
      busy={load.isPending}
      locked={plan.data === undefined || refused}
      error={load.error}
      onConfirm={() => load.mutate({ name: slot.name })}
      onClose={onClose}
    >
      <Loaded query={plan} what="the memory forecast" lines={5}>
        {(data) => <LoadForecast plan={data} />}
      </Loaded>
    </Confirm>
  );
}

function Running(props: { active: number; queued: number }): ReactElement {
  const { active, queued } = props;
  if (active + queued === 0) return <p>Not in use.</p>;
  return (
    <p>
      {active} active and {queued} queued {active + queued === 1 ? 'request' : 'requests'}. Active requests
      finish first.
    </p>
  );
}

/** Returns the other slots that use the engine of a slot, so that it stays loaded. */
const otherUsers = ({ name, shared_engine: shared }: SlotRecord): string[] =>
  (shared?.used_by ?? []).filter((user) => user !== name);

/** Confirms an unload; names the freed memory and the affected requests. */
export function UnloadSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const unload = useSlotAction('slot.unload', onClose);
  const others = otherUsers(slot);
  const bytes = slot.memory_bytes ?? slot.memory?.needed_bytes ?? null;
  return (
    <Confirm
      open
      title={`Unload slot ${slot.name}?`}
      action="Unload slot"
      busy={unload.isPending}
      error={unload.error}
      onConfirm={() => unload.mutate({ name: slot.name })}
      onClose={onClose}
    >
      <Running active={slot.active} queued={slot.queued} />
      {others.length > 0 ? (
        <p>The engine stays loaded, because it is also used by {listed(others)}. No memory is freed.</p>
      ) : (
        <p>
          Frees {bytes === null ? 'its memory' : byteSize(bytes)}. It will load again on the next request,
          which has to wait.
        </p>
      )}
    </Confirm>
  );
}

/** Confirms a restart of the engine. */
export function RestartSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const restart = useSlotAction('slot.restart', onClose);
  const others = otherUsers(slot);
  return (
    <Confirm
      open
      title={`Restart slot ${slot.name}?`}
      action="Restart slot"
      busy={restart.isPending}
      error={restart.error}
      onConfirm={() => restart.mutate({ name: slot.name })}
      onClose={onClose}
    >
      <Running active={slot.active} queued={slot.queued} />
      <p>Restarts the engine with the current settings of its slot file. Requests wait until it is ready.</p>
      {others.length === 0 ? null : <p>The engine is also used by {listed(others)}.</p>}
    </Confirm>
  );
}
