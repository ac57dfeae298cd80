import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { usesOtherEngine } from '../../../daemon/contract/shared-engine.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { TextInput } from '../../ui/inputs.tsx';
import type { SlotDialogProps } from './slot-dialog-props.ts';

const LIMIT_MS = 60_000;

/** Confirms the removal of a slot. The name has to be typed because the slot file is deleted. */
export function RemoveSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const remove = useAction({
    send: () => call('slot.remove', { params: { name: slot.name } }, LIMIT_MS),
    onSuccess: () => void client.invalidateQueries({ queryKey: keyOf('slots') }),
    onDone: onClose,
  });
  return (
    <Confirm
      open
      title={`Remove slot ${slot.name}?`}
      action="Remove slot"
      danger
      busy={remove.isPending}
      locked={typed !== slot.name}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        Deletes <code>slots/{slot.name}.toml</code> with everything in it, including manual edits.{' '}
        {slot.pid === null || usesOtherEngine(slot) ? '' : 'Its engine is stopped first. '}Requests for the
        slot will be refused.
      </p>
      <p>The model is not deleted and may get an automatic slot.</p>
      <TextInput label="Type the slot name to confirm" exact value={typed} onChange={setTyped} />
    </Confirm>
  );
}
