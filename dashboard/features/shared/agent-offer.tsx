import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf, queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { byteSize } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import css from './agent-offer.module.css';

function useChoice() {
  const client = useQueryClient();
  return useAction({
    send: (model: string) => call('agent.put', { body: { model } }),
    onSuccess: (answer) => {
      client.setQueryData(keyOf('agent'), answer);
      void client.invalidateQueries({ queryKey: keyOf('slots') });
    },
  });
}

/** Offers a larger model for slot `agent`, which is never taken without a decision. Renders nothing without one. */
export function AgentOffer(): ReactElement | null {
  const { data } = useQuery(queries.agent);
  const choice = useChoice();
  if (data === undefined || data.offer === null) return null;
  const { model, offer } = data;
  return (
    <Note tone="idle">
      <p>
        <strong>{offer.model}</strong> ({byteSize(offer.size_bytes)}) is larger than{' '}
        {model === null ? 'the model of agent' : <strong>{model}</strong>}, which serves as agent.
      </p>
      <div className={css.acts}>
        <Button busy={choice.isPending} onClick={() => choice.mutate(offer.model)}>
          Use {offer.model} as agent
        </Button>
        {model === null ? null : (
          <Button busy={choice.isPending} onClick={() => choice.mutate(model)}>
            Keep {model}
          </Button>
        )}
      </div>
      {choice.error === null ? null : <Failure error={choice.error} />}
    </Note>
  );
}
