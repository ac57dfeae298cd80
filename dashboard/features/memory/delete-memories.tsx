import { type ReactElement, useState } from 'react';
import type { MemoryRecord } from '../../../daemon/contract/system.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { count } from '../../ui/format.ts';
import { TextInput } from '../../ui/inputs.tsx';
import css from './memory.module.css';
import { useNotesAction } from './use-memories.ts';

/** The text to type before everything is deleted. */
const CONFIRM_PHRASE = 'delete everything';

/** Confirms the deletion of one note and shows it. */
export function DeleteOne(props: {
  memory: MemoryRecord;
  onClose: () => void;
  onDone: () => void;
  focusAfter: () => HTMLElement | null;
}): ReactElement {
  const remove = useNotesAction('memory.delete.one', props.onDone);
  return (
    <Confirm
      open
      title="Delete this note?"
      action="Delete note"
      danger
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { id: props.memory.id } })}
      onClose={props.onClose}
      focusAfter={props.focusAfter}
    >
      <blockquote className={css.quote}>{props.memory.text}</blockquote>
      <p>This can’t be undone.</p>
    </Confirm>
  );
}

/** Confirms the deletion of the selected notes. */
export function DeleteMany(props: {
  ids: readonly string[];
  onClose: () => void;
  onDone: () => void;
  focusAfter: () => HTMLElement | null;
}): ReactElement {
  const { ids } = props;
  const remove = useNotesAction('memory.delete.many', props.onDone);
  const notes = ids.length === 1 ? 'note' : 'notes';
  return (
    <Confirm
      open
      title={`Delete ${count(ids.length)} ${notes}?`}
      action={`Delete ${count(ids.length)} ${notes}`}
      danger
      busy={remove.isPending}
      locked={ids.length === 0}
      error={remove.error}
      onConfirm={() => remove.mutate({ body: { ids } })}
      onClose={props.onClose}
      focusAfter={props.focusAfter}
    >
      <p>This can’t be undone.</p>
    </Confirm>
  );
}

/** Confirms the deletion of all notes; requires typing a phrase. */
export function DeleteAll(props: {
  onClose: () => void;
  onDone: () => void;
  focusAfter: () => HTMLElement | null;
}): ReactElement {
  const [typed, setTyped] = useState('');
  const remove = useNotesAction('memory.delete.all', props.onDone);
  return (
    <Confirm
      open
      title="Delete all notes?"
      action="Delete all notes"
      danger
      busy={remove.isPending}
      locked={typed.trim().toLowerCase() !== CONFIRM_PHRASE}
      error={remove.error}
      onConfirm={() => remove.mutate({ query: { confirm: 'all' } })}
      onClose={props.onClose}
      focusAfter={props.focusAfter}
    >
      <p>
        Deletes every note, including those not shown on this page. Assistants lose this knowledge. This can’t
        be undone.
      </p>
      <TextInput label={`Type “${CONFIRM_PHRASE}” to confirm`} exact value={typed} onChange={setTyped} />
    </Confirm>
  );
}
