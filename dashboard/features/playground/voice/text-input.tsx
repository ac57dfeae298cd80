import { SendHorizontal } from 'lucide-react';
import { type ReactElement, useId, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import field from '../../../ui/field.module.css';
import { TextInput } from '../../../ui/inputs.tsx';
import { Fields, useFields } from '../parts/fields.ts';
import { liveCall } from './live-call.ts';
import css from './voice.module.css';

export const typed = new Fields('voice-typed', { text: 'Good morning! How are you?' });

/** Uploads a recording in place of the microphone. */
function Recording(): ReactElement {
  const id = useId();
  const [fault, setFault] = useState<string | null>(null);
  const play = (file: File | undefined): void => {
    if (file === undefined) return;
    setFault(null);
    liveCall.play(file).catch((error: unknown) => {
      const why = error instanceof Error && error.name !== 'EncodingError' ? error.message : '';
      setFault(why || 'The browser cannot decode this file.');
    });
  };
  return (
    <div className={field.field}>
      <label className={field.label} htmlFor={id}>
        Or upload a recording
      </label>
      <input
        id={id}
        type="file"
        accept="audio/*"
        className={`${field.input} ${css.file}`}
        onChange={(event) => {
          play(event.target.files?.[0]);
          event.target.value = '';
        }}
      />
      {fault === null ? null : (
        <p className={field.error} role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

/** Sends a typed message or a recording to the running session. */
export function MessageForm(): ReactElement {
  const { text } = useFields(typed);
  const send = (): void => {
    if (text.trim() === '') return;
    liveCall.type(text.trim());
    typed.set({ text: '' });
  };
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className={css.line}>
        <TextInput label="Type a message" value={text} onChange={(next) => typed.set({ text: next })} />
        <Button type="submit" variant="main" disabled={text.trim() === ''}>
          <SendHorizontal size={14} aria-hidden="true" /> Send
        </Button>
      </div>
      <Recording />
    </form>
  );
}
