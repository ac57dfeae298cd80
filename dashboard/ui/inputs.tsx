import { type ReactElement, useId } from 'react';
import field from './field.module.css';

interface Common {
  label: string;
  value: string;
  help?: string;
  /** Replaces the help while the value is refused. */
  error?: string | undefined;
  onChange: (value: string) => void;
}

function Framed(props: {
  id: string;
  label: string;
  help: string | undefined;
  error?: string | undefined;
  children: ReactElement;
}): ReactElement {
  const words = props.error ?? props.help;
  return (
    <div className={field.field}>
      <label className={field.label} htmlFor={props.id}>
        {props.label}
      </label>
      {props.children}
      {words === undefined ? null : (
        <p id={`${props.id}-help`} className={props.error === undefined ? field.help : field.error}>
          {words}
        </p>
      )}
    </div>
  );
}

const described = (id: string, help: string | undefined): string | undefined =>
  help === undefined ? undefined : `${id}-help`;

/** A multi-line text field; Ctrl or ⌘ and Enter submits the form. */
export function TextArea(props: Common & { rows: number; placeholder?: string }): ReactElement {
  const id = useId();
  return (
    <Framed id={id} label={props.label} help={props.help}>
      <textarea
        id={id}
        className={field.input}
        rows={props.rows}
        value={props.value}
        placeholder={props.placeholder}
        aria-describedby={described(id, props.help)}
        onChange={(event) => props.onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
    </Framed>
  );
}

/**
 * A single-line field for text or a number as text. `exact` disables spell checking, for names and paths; `secret`
 * hides the text.
 */
export function TextInput(
  props: Common & { placeholder?: string; numeric?: boolean; exact?: boolean; secret?: boolean },
): ReactElement {
  const id = useId();
  return (
    <Framed id={id} label={props.label} help={props.help} error={props.error}>
      <input
        id={id}
        type={props.secret ? 'password' : 'text'}
        className={field.input}
        inputMode={props.numeric ? 'decimal' : undefined}
        autoComplete={props.secret ? 'new-password' : 'off'}
        spellCheck={props.exact ? false : undefined}
        value={props.value}
        placeholder={props.placeholder}
        aria-describedby={described(id, props.error ?? props.help)}
        aria-invalid={props.error !== undefined || undefined}
        data-invalid={props.error !== undefined || undefined}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </Framed>
  );
}

/** A select field. */
export function Choice(
  props: Common & { choices: ReadonlyArray<readonly [value: string, word: string]> },
): ReactElement {
  const id = useId();
  const known = props.choices.some(([value]) => value === props.value);
  return (
    <Framed id={id} label={props.label} help={props.help}>
      <select
        id={id}
        className={field.input}
        value={props.value}
        aria-describedby={described(id, props.help)}
        onChange={(event) => props.onChange(event.target.value)}
      >
        {known ? null : <option value={props.value}>{props.value}</option>}
        {props.choices.map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </select>
    </Framed>
  );
}
