import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import type { KvCacheView } from '../../../daemon/contract/kv-cache.ts';
import { useAction } from '../../api/action.ts';
import { type CallOptions, call } from '../../api/client.ts';
import { keyOf, queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { byteSize, count } from '../../ui/format.ts';

const PLACES: Readonly<Record<KvCacheView['persist'], string>> = {
  off: '',
  memory: 'in memory, until the gateway ends',
  disk: 'on disk',
};

const conversations = (states: number): string =>
  `${count(states)} ${states === 1 ? 'conversation' : 'conversations'}`;

/** The saved states of conversations with their size and use, and the button that deletes them. */
export function SavedConversations(): ReactElement | null {
  const { data } = useQuery(queries.kvCache);
  const [isOpen, setOpen] = useState(false);
  if (data === undefined || data.persist === 'off' || (data.states === 0 && data.problem === null))
    return null;
  return (
    <Card title="Saved conversations">
      <p>{data.problem ?? summary(data)}</p>
      {data.states === 0 ? null : (
        <Button onClick={() => setOpen(true)}>
          <Trash2 size={16} aria-hidden="true" /> Delete saved conversations…
        </Button>
      )}
      {isOpen ? <DeleteStates view={data} onClose={() => setOpen(false)} /> : null}
    </Card>
  );
}

function summary({
  states,
  bytes: size,
  max_bytes: limit,
  persist,
  hits,
  restored_tokens: tokens,
}: KvCacheView) {
  const held = `${conversations(states)}, ${byteSize(size)} of ${byteSize(limit)} ${PLACES[persist]}.`;
  if (hits === 0) return `${held} Not used since the start of the gateway.`;
  const requests = hits === 1 ? '1 request' : `${count(hits)} requests`;
  return `${held} Used by ${requests}: ${count(tokens)} tokens were not computed again.`;
}

function DeleteStates(props: { view: KvCacheView; onClose: () => void }): ReactElement {
  const client = useQueryClient();
  const remove = useAction({
    send: (options: CallOptions) => call('kv-cache.clear', options),
    onSuccess: () => void client.invalidateQueries({ queryKey: keyOf('kv-cache') }),
    onDone: props.onClose,
  });
  return (
    <Confirm
      open
      title="Delete saved conversations?"
      action="Delete saved conversations"
      danger
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({})}
      onClose={props.onClose}
    >
      <p>
        Deletes the saved state of {conversations(props.view.states)}. The next request of each conversation
        reads all of it again. Chats in your apps stay.
      </p>
    </Confirm>
  );
}
