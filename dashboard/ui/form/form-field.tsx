import { type ReactElement, useId } from 'react';
import field from '../field.module.css';
import { type FieldRow, helpText } from './draft.ts';
import css from './form.module.css';

interface ControlProps {
  id: string;
  row: FieldRow;
  value: string | null;
  /** Meaning of an empty field. */
  empty: string;
  describedBy: string;
  invalid: boolean;
  onChange: (value: string) => void;
}

function Choice(props: ControlProps & { choices: readonly string[] }): ReactElement {
  return (
    <select
      id={props.id}
      className={field.input}
      value={props.value ?? ''}
      aria-describedby={props.describedBy}
      aria-invalid={props.invalid || undefined}
      onChange={(event) => props.onChange(event.target.value)}
    >
      <option value="">{props.value === null ? 'reset to default' : props.empty}</option>
      {props.choices.map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </select>
  );
}

function Control(props: ControlProps): ReactElement {
  const { row } = props;
  if (row.kind === 'flag') return <Choice {...props} choices={['yes', 'no']} />;
  if (row.kind === 'choice') return <Choice {...props} choices={row.choices ?? []} />;
  const shared = {
    id: props.id,
    className: field.input,
    value: props.value ?? '',
    placeholder: props.value === null ? 'reset to default' : props.empty,
    'aria-required': row.required || undefined,
    'aria-describedby': props.describedBy,
    'aria-invalid': props.invalid || undefined,
    'data-invalid': props.invalid || undefined,
    spellCheck: false,
    autoComplete: 'off',
  };
  if (row.kind === 'list' || row.kind === 'map') {
    return <textarea {...shared} rows={3} onChange={(event) => props.onChange(event.target.value)} />;
  }
  return (
    <input
      {...shared}
      type="text"
      inputMode={row.kind === 'number' ? 'decimal' : undefined}
      list={row.suggestions === undefined ? undefined : `${props.id}-list`}
      onChange={(event) => props.onChange(event.target.value)}
    />
  );
}

/** One field with its help or error, and a reset button when it has a default. */
export function FormField(props: {
  row: FieldRow;
  value: string | null;
  empty: string;
  error: string | undefined;
  onChange: (value: string | null) => void;
  canReset: boolean;
}): ReactElement {
  const { row, value } = props;
  const id = useId();
  return (
    <div className={field.field}>
      <div className={css.labelLine}>
        <label className={field.label} htmlFor={id}>
          {row.label}
        </label>
        {props.canReset && !row.required ? (
          <button
            type="button"
            className={css.reset}
            onClick={() => props.onChange(value === null ? '' : null)}
          >
            {value === null ? 'Undo reset' : 'Reset'}
            <span className="hidden-visually">: {row.label}</span>
          </button>
        ) : null}
      </div>
      <Control
        id={id}
        row={row}
        value={value}
        empty={row.placeholder ?? props.empty}
        describedBy={`${id}-help`}
        invalid={props.error !== undefined}
        onChange={props.onChange}
      />
      {row.suggestions === undefined ? null : (
        <datalist id={`${id}-list`}>
          {row.suggestions.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
      <p id={`${id}-help`} className={props.error === undefined ? field.help : field.error}>
        {props.error ?? helpText(row)}
      </p>
    </div>
  );
}
