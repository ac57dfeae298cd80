import { type ReactElement, type ReactNode, useState } from 'react';
import { isStale, toFailureInfo } from '../../api/api-error.ts';
import { Button } from '../button.tsx';
import { Failure } from '../failure.tsx';
import { Note } from '../note.tsx';
import { bodyOf, type Draft, type FieldRow, type Issues, refusedFields } from './draft.ts';
import type { EditBase } from './edit-base.ts';
import css from './form.module.css';
import { FormField } from './form-field.tsx';

/** Maximum number of fields in the headline of an error. Each one is also shown at its field. */
const MAX_SENTENCES = 3;

interface FormState {
  draft: Draft;
  issues: Issues;
  set: (key: string, value: string | null) => void;
}

function useDraft(
  rows: readonly FieldRow[],
  baseline: Draft,
  check: (body: Record<string, unknown>) => Issues,
  error: unknown,
) {
  const [draft, setDraft] = useState<Draft>({});
  const [touched, setTouched] = useState(false);
  const whole: Draft = { ...baseline, ...draft };
  const refused = error == null ? {} : refusedFields(toFailureInfo(error).details, rows);
  return {
    whole,
    touch: () => setTouched(true),
    issues: { ...refused, ...(touched ? check(bodyOf(rows, whole, baseline)) : {}) },
    set: (key: string, value: string | null) => setDraft((was) => ({ ...was, [key]: value })),
  };
}

function Group(props: {
  rows: readonly FieldRow[];
  state: FormState;
  canReset: boolean;
  empty: string;
}): ReactElement {
  const { state } = props;
  return (
    <div className={css.grid}>
      {props.rows.map((row) => (
        <FormField
          key={row.key}
          row={row}
          value={row.key in state.draft ? (state.draft[row.key] ?? null) : ''}
          empty={props.empty}
          error={state.issues[row.key]}
          canReset={props.canReset}
          onChange={(value) => state.set(row.key, value)}
        />
      ))}
    </div>
  );
}

/** The error of a change. After an edit conflict the change can be sent again. */
function Refusal(props: {
  error: unknown;
  editBase: EditBase | undefined;
  rows: readonly FieldRow[];
}): ReactElement {
  const { error, editBase } = props;
  if (!isStale(error) || editBase?.refusal !== error) {
    const sentences = Object.values(refusedFields(toFailureInfo(error).details, props.rows));
    return <Failure error={error} headline={sentences.slice(0, MAX_SENTENCES).join(' ') || undefined} />;
  }
  return (
    <div role="alert">
      <Note tone="attention">
        <p>
          <b>The file changed on disk. Nothing was saved.</b> Your input is preserved; fields that you did not
          edit show the current values.
        </p>
      </Note>
    </div>
  );
}

/**
 * A form for a record. Sends changed fields only, validates with the schema of the daemon first, shows errors at their
 * fields, and preserves the input on failure and on an edit conflict.
 */
export function RecordForm(props: {
  rows: readonly FieldRow[];
  more: readonly FieldRow[];
  baseline: Draft;
  create: boolean;
  /** Hides the reset buttons. */
  fixed?: boolean;
  /** Meaning of an empty field, such as "default". */
  empty: string;
  check: (body: Record<string, unknown>) => Issues;
  action: string;
  /** The file revision that the form is based on. */
  editBase?: EditBase;
  busy: boolean;
  error: unknown;
  onSend: (body: Record<string, unknown>) => void;
  children?: ReactNode;
}): ReactElement {
  const all = [...props.rows, ...props.more];
  const form = useDraft(all, props.baseline, props.check, props.error);
  const state: FormState = { draft: form.whole, issues: form.issues, set: form.set };
  const body = bodyOf(all, form.whole, props.baseline);
  const canReset = !props.create && props.fixed !== true;
  const wrong = props.more.some(({ key }) => state.issues[key] !== undefined);
  const unplaced = Object.entries(state.issues).filter(([path]) => !all.some(({ key }) => key === path));
  return (
    <form
      className={css.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        form.touch();
        if (Object.keys(props.check(body)).length === 0) props.onSend(body);
      }}
    >
      <Group rows={props.rows} state={state} canReset={canReset} empty={props.empty} />
      {props.more.length === 0 ? null : (
        <details className={css.more} open={wrong || undefined}>
          <summary>More settings</summary>
          <Group rows={props.more} state={state} canReset={canReset} empty={props.empty} />
        </details>
      )}
      {unplaced.map(([path, reason]) => (
        <p key={path} className={css.unplaced}>
          {reason}
        </p>
      ))}
      {props.error == null ? null : <Refusal error={props.error} editBase={props.editBase} rows={all} />}
      {props.children}
      <div className={css.actions}>
        <Button
          type="submit"
          variant="main"
          busy={props.busy}
          disabled={!props.create && Object.keys(body).length === 0}
        >
          {props.editBase == null || props.editBase.refusal === null ? props.action : 'Overwrite file'}
        </Button>
      </div>
    </form>
  );
}
