import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { gib } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Forecast } from '../shared/forecast.tsx';
import type { SlotDialogProps } from './slot-dialog.tsx';
import { useSlotAct } from './use-slot-act.ts';

/** Loads a slot, after the memory sum and who has to leave were shown. */
export function LoadSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const plan = useQuery(queries.plan(slot.name));
  const load = useSlotAct('slot.load', onClose);
  const refused = plan.data?.forecast.outcome === 'refused';
  return (
    <Confirm
      open
      title={`Load ${plan.data?.model ?? slot.model ?? 'the model'} into slot ${slot.name}?`}
      action="Load"
      busy={load.isPending}
      locked={plan.data === undefined || refused}
      error={load.error}
      onConfirm={() => load.mutate({ name: slot.name })}
      onClose={onClose}
    >
      <Loaded query={plan} what="the memory sum" lines={5}>
        {(data) => <Forecast forecast={data.forecast} />}
      </Loaded>
    </Confirm>
  );
}

function Running(props: { active: number; queued: number }): ReactElement {
  const { active, queued } = props;
  if (active + queued === 0) return <p>Nobody is using it now.</p>;
  return (
    <p>
      {active} {active === 1 ? 'request is' : 'requests are'} running and {queued} waiting: what runs may
      finish first.
    </p>
  );
}

/** Unloads a slot, after saying what that frees and whom it concerns. */
export function UnloadSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const unload = useSlotAct('slot.unload', onClose);
  const bytes = slot.memory_bytes ?? slot.memory?.needed_bytes ?? null;
  return (
    <Confirm
      open
      title={`Unload slot ${slot.name}?`}
      action="Unload"
      busy={unload.isPending}
      error={unload.error}
      onConfirm={() => unload.mutate({ name: slot.name })}
      onClose={onClose}
    >
      <Running active={slot.active} queued={slot.queued} />
      <p>
        {bytes === null ? 'Its memory' : gib(bytes)} becomes free. The next request for {slot.model ?? 'it'}{' '}
        loads it again and waits for that.
      </p>
    </Confirm>
  );
}

/** Ends an engine and starts it again. */
export function RestartSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const restart = useSlotAct('slot.restart', onClose);
  return (
    <Confirm
      open
      title={`Restart slot ${slot.name}?`}
      action="Restart"
      busy={restart.isPending}
      error={restart.error}
      onConfirm={() => restart.mutate({ name: slot.name })}
      onClose={onClose}
    >
      <Running active={slot.active} queued={slot.queued} />
      <p>
        Its engine ends and starts again with the settings that its file has now. Requests wait meanwhile.
      </p>
    </Confirm>
  );
}
