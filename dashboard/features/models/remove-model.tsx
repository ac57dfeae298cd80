import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import { queries } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { gib } from '../../ui/format.ts';
import { TextInput } from '../../ui/inputs.tsx';
import { holderOf } from './holder.ts';
import { useModelAct } from './use-model-act.ts';

const STAYS: Partial<Record<ModelWithMemory['source'], string>> = {
  scan: 'Its files lie in a folder of yours, so the gateway does not touch them, and the next scan would find it again. Remove the files yourself, or take the folder out of [models] folders.',
  program: 'It is part of a program of this machine. Setting SVC_ESPEAK=off hides the voices of espeak-ng.',
  demo: 'The demonstration model steps aside by itself as soon as a real chat model is here.',
};

function Consequence(props: { model: ModelWithMemory }): ReactElement {
  const { model } = props;
  if (model.source === 'pull') {
    return (
      <p>
        Its files ({gib(model.size_bytes)}) are deleted from the models folder; to have it again it must be
        pulled again. Requests that name it are refused from then on.
      </p>
    );
  }
  return (
    <p>
      The gateway forgets it: requests that name it are refused from then on. Its file stays where it is and
      can be registered again.
    </p>
  );
}

/** Removes a model; its name is typed only where files are lost. */
export function RemoveModel(props: { model: ModelWithMemory; onClose: () => void }): ReactElement {
  const { model, onClose } = props;
  const [typed, setTyped] = useState('');
  const slots = useQuery(queries.slots);
  const remove = useModelAct('model.remove', onClose);
  const stays = STAYS[model.source];
  const slot = holderOf(model, slots.data?.slots ?? []);
  const held = slot !== undefined && slot.state !== 'offline' && slot.state !== 'error';
  const lost = model.source === 'pull';
  return (
    <Confirm
      open
      title={stays === undefined ? `Remove ${model.id}?` : `${model.id} can not be removed here`}
      action="Remove the model"
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
          Slot {slot.name} holds it now.{' '}
          <Link href={`/slots?slot=${encodeURIComponent(slot.name)}&show=unload`}>Unload the slot</Link>{' '}
          first.
        </p>
      ) : null}
      {lost && !held ? (
        <TextInput label="Type the name of the model to go on" exact value={typed} onChange={setTyped} />
      ) : null}
    </Confirm>
  );
}
