import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useAct } from '../../api/act.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { TextInput } from '../../ui/inputs.tsx';
import type { SlotDialogProps } from './slot-dialog.tsx';

const LIMIT_MS = 60_000;

/** Removes a slot and its file; the name is typed, because what the file holds is lost. */
export function RemoveSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const remove = useAct({
    send: () => call('slot.remove', { params: { name: slot.name } }, LIMIT_MS),
    onSuccess: () => void client.invalidateQueries({ queryKey: keyOf('slots') }),
    onDone: onClose,
  });
  return (
    <Confirm
      open
      title={`Remove slot ${slot.name}?`}
      action="Remove the slot"
      danger
      busy={remove.isPending}
      locked={typed !== slot.name}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        The file <code>slots/{slot.name}.toml</code> is deleted with everything in it, what was written by
        hand included. {slot.pid === null ? '' : 'Its engine ends first. '}Requests that name the slot are
        refused from then on.
      </p>
      <p>The model itself stays; it may get an automatic slot.</p>
      <TextInput label="Type the name of the slot to go on" exact value={typed} onChange={setTyped} />
    </Confirm>
  );
}
