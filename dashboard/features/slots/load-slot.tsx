import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { byteSize } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Forecast } from '../shared/forecast.tsx';
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
        {(data) => <Forecast forecast={data.forecast} />}
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

/** Confirms an unload; names the freed memory and the affected requests. */
export function UnloadSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const unload = useSlotAction('slot.unload', onClose);
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
      <p>
        Frees {bytes === null ? 'its memory' : byteSize(bytes)}. It will load again on the next request, which
        has to wait.
      </p>
    </Confirm>
  );
}

/** Confirms a restart of the engine. */
export function RestartSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const restart = useSlotAction('slot.restart', onClose);
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
    </Confirm>
  );
}
