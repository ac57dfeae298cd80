import { type FormEvent, type ReactElement, useId, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import dialog from '../../ui/dialog.module.css';
import { Failure } from '../../ui/failure.tsx';
import field from '../../ui/field.module.css';
import { Sheet } from '../../ui/sheet.tsx';
import css from './memory.module.css';
import { tagsOf } from './memory-words.ts';
import { useNotesAction } from './use-memories.ts';

const MAX_LENGTH = 65_536;

/** Adds a note. A refused text stays in the field. */
export function AddMemory(props: { onClose: () => void }): ReactElement {
  const id = useId();
  const [text, setText] = useState('');
  const [tags, setTags] = useState('');
  const add = useNotesAction('memory.add', props.onClose);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const list = tagsOf(tags);
    add.mutate({ body: { text: text.trim(), ...(list.length === 0 ? {} : { tags: list }) } });
  };
  return (
    <Sheet title="Add a note" onClose={props.onClose}>
      <form className={css.form} onSubmit={send}>
        <div className={field.field}>
          <label className={field.label} htmlFor={`${id}-text`}>
            Text
          </label>
          <textarea
            id={`${id}-text`}
            className={field.input}
            rows={5}
            maxLength={MAX_LENGTH}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <div className={field.field}>
          <label className={field.label} htmlFor={`${id}-tags`}>
            Tags
          </label>
          <input
            id={`${id}-tags`}
            className={field.input}
            autoComplete="off"
            placeholder="household, heating"
            aria-describedby={`${id}-help`}
            value={tags}
            onChange={(event) => setTags(event.target.value)}
          />
          <p className={field.help} id={`${id}-help`}>
            Separated by commas; optional.
          </p>
        </div>
        {add.error === null ? null : <Failure error={add.error} />}
        <div className={dialog.actions}>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button variant="main" type="submit" disabled={text.trim() === ''} busy={add.isPending}>
            Save note
          </Button>
        </div>
      </form>
    </Sheet>
  );
}
