import type { ComponentType, ReactElement } from 'react';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { Sheet } from '../../ui/sheet.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EditSlot, NewSlot } from './edit-slot.tsx';
import { LoadSlot, RestartSlot, UnloadSlot } from './load-slot.tsx';
import { RemoveSlot } from './remove-slot.tsx';
import type { SlotDialogProps } from './slot-dialog-props.ts';
import { SlotLog } from './slot-log.tsx';
import { SlotPlan } from './slot-plan.tsx';
import { SwapSlot } from './swap-slot.tsx';
import type { OpenDialog, Show } from './url-state.ts';
import { WorkflowSlot } from './workflow-slot.tsx';

const DIALOGS: Record<Exclude<Show, 'new'>, ComponentType<SlotDialogProps>> = {
  load: LoadSlot,
  unload: UnloadSlot,
  restart: RestartSlot,
  swap: SwapSlot,
  plan: SlotPlan,
  log: SlotLog,
  edit: EditSlot,
  workflow: WorkflowSlot,
  delete: RemoveSlot,
};

/** The open dialog of the slots view. */
export function SlotDialog(props: {
  place: OpenDialog;
  slots: readonly SlotRecord[] | undefined;
  onClose: () => void;
}): ReactElement {
  const { place, slots, onClose } = props;
  if (place.show === 'new') return <NewSlot onClose={onClose} />;
  const slot = slots?.find(({ name }) => name === place.slot);
  const Dialog = DIALOGS[place.show];
  if (slot !== undefined) return <Dialog key={`${place.show} ${slot.name}`} slot={slot} onClose={onClose} />;
  return (
    <Sheet title={`Slot ${place.slot}`} onClose={onClose}>
      {slots === undefined ? <Skeleton lines={4} what="the slot" /> : <p>This slot no longer exists.</p>}
    </Sheet>
  );
}
