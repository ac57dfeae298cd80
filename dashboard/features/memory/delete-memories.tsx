import { type ReactElement, useState } from 'react';
import type { MemoryRecord } from '../../../daemon/contract/system.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { count } from '../../ui/format.ts';
import { TextInput } from '../../ui/inputs.tsx';
import css from './memory.module.css';
import { useMemoryAct } from './use-memories.ts';

/** What must be typed before everything is deleted. */
const EVERYTHING = 'delete everything';

/** Deletes one memory, which is shown once more. */
export function DeleteOne(props: {
  memory: MemoryRecord;
  onClose: () => void;
  onDone: () => void;
  goOn: () => HTMLElement | null;
}): ReactElement {
  const remove = useMemoryAct('memory.delete.one', props.onDone);
  return (
    <Confirm
      open
      title="Delete this memory?"
      action="Delete it"
      danger
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { id: props.memory.id } })}
      onClose={props.onClose}
      goOn={props.goOn}
    >
      <blockquote className={css.quote}>{props.memory.text}</blockquote>
      <p>It can not be brought back.</p>
    </Confirm>
  );
}

/** Deletes those that were chosen. */
export function DeleteMany(props: {
  ids: readonly string[];
  onClose: () => void;
  onDone: () => void;
  goOn: () => HTMLElement | null;
}): ReactElement {
  const { ids } = props;
  const remove = useMemoryAct('memory.delete.many', props.onDone);
  const memories = ids.length === 1 ? 'memory' : 'memories';
  return (
    <Confirm
      open
      title={`Delete ${count(ids.length)} ${memories}?`}
      action={`Delete ${count(ids.length)} ${memories}`}
      danger
      busy={remove.isPending}
      locked={ids.length === 0}
      error={remove.error}
      onConfirm={() => remove.mutate({ body: { ids } })}
      onClose={props.onClose}
      goOn={props.goOn}
    >
      <p>They can not be brought back.</p>
    </Confirm>
  );
}

/** Empties the store, once the words were typed. */
export function DeleteAll(props: {
  onClose: () => void;
  onDone: () => void;
  goOn: () => HTMLElement | null;
}): ReactElement {
  const [typed, setTyped] = useState('');
  const remove = useMemoryAct('memory.delete.all', props.onDone);
  return (
    <Confirm
      open
      title="Delete all memories?"
      action="Delete all memories"
      danger
      busy={remove.isPending}
      locked={typed.trim().toLowerCase() !== EVERYTHING}
      error={remove.error}
      onConfirm={() => remove.mutate({ query: { confirm: 'all' } })}
      onClose={props.onClose}
      goOn={props.goOn}
    >
      <p>
        The whole store is emptied, also what is not on this page. Assistants that rely on it know nothing of
        it any more. It can not be brought back.
      </p>
      <TextInput label={`Type “${EVERYTHING}” to go on`} exact value={typed} onChange={setTyped} />
    </Confirm>
  );
}
