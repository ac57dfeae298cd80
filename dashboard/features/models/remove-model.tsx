import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import { queries } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { byteSize } from '../../ui/format.ts';
import { TextInput } from '../../ui/inputs.tsx';
import { holderOf } from './holder.ts';
import { useModelAction } from './use-model-action.ts';

const STAYS: Partial<Record<ModelWithMemory['source'], string>> = {
  scan: 'Its files are in one of your folders, so the gateway does not delete them, and the next scan would find the model again. Delete the files yourself, or remove the folder from [models] folders.',
  program: 'It is part of an installed program. To hide the voices of espeak-ng, set SVC_ESPEAK=off.',
  demo: 'The demo model is replaced when you add a real chat model.',
};

function Consequence(props: { model: ModelWithMemory }): ReactElement {
  const { model } = props;
  if (model.source === 'pull') {
    return (
      <p>
        Deletes its files ({byteSize(model.size_bytes)}) from the models folder. To use the model again, you
        have to download it again. Requests for it will be refused.
      </p>
    );
  }
  return (
    <p>
      Removes the model from the list; requests for it will be refused. Its file stays where it is, and you
      can add it again.
    </p>
  );
}

/** Confirms the removal of a model. The name has to be typed only when files are deleted. */
export function RemoveModel(props: { model: ModelWithMemory; onClose: () => void }): ReactElement {
  const { model, onClose } = props;
  const [typed, setTyped] = useState('');
  const slots = useQuery(queries.slots);
  const remove = useModelAction('model.remove', onClose);
  const stays = STAYS[model.source];
  const slot = holderOf(model, slots.data?.slots ?? []);
  const held = slot !== undefined && slot.state !== 'offline' && slot.state !== 'error';
  const lost = model.source === 'pull';
  return (
    <Confirm
      open
      title={stays === undefined ? `Remove ${model.id}?` : `${model.id} can’t be removed here`}
      action="Remove model"
      danger
      busy={remove.isPending}
      locked={stays !== undefined || held || (lost && typed !== model.id)}
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { id: model.id } })}
      onClose={onClose}
    >
      {stays === undefined ? <Consequence model={model} /> : <p>{stays}</p>}
      {held ? (
        <p>
          Slot {slot.name} is using it.{' '}
          <Link href={`/slots?slot=${encodeURIComponent(slot.name)}&show=unload`}>Unload the slot</Link>{' '}
          first.
        </p>
      ) : null}
      {lost && !held ? (
        <TextInput label="Type the model name to confirm" exact value={typed} onChange={setTyped} />
      ) : null}
    </Confirm>
  );
}
