import { type ReactElement, type ReactNode, useState } from 'react';
import { isStale, toPicture } from '../../api/api-error.ts';
import { Button } from '../button.tsx';
import { Failure } from '../failure.tsx';
import { Note } from '../note.tsx';
import { bodyOf, type Draft, type FieldRow, type Issues, refusedFields } from './draft.ts';
import css from './form.module.css';
import { FormField } from './form-field.tsx';
import type { Look } from './look.ts';

interface FormState {
  draft: Draft;
  issues: Issues;
  set: (key: string, value: string | null) => void;
}

function useDraft(baseline: Draft, check: (body: Record<string, unknown>) => Issues, error: unknown) {
  const [draft, setDraft] = useState<Draft>({});
  const [touched, setTouched] = useState(false);
  const whole: Draft = { ...baseline, ...draft };
  const said = error == null ? {} : refusedFields(toPicture(error).details);
  return {
    whole,
    said,
    touched,
    touch: () => setTouched(true),
    issues: (rows: readonly FieldRow[]): Issues => ({
      ...said,
      ...(touched ? check(bodyOf(rows, whole, baseline)) : {}),
    }),
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

/** Why a change did not come about; one that the file has overtaken can be sent once more. */
function Refusal(props: { error: unknown; look: Look | undefined }): ReactElement {
  const { error, look } = props;
  if (!isStale(error) || look?.refusal !== error) return <Failure error={error} />;
  return (
    <div role="alert">
      <Note tone="attention">
        <p>
          <b>The file has changed since this form was filled; nothing was written.</b> What you typed is still
          here, and every field that you did not touch shows what the file says now.
        </p>
      </Note>
    </div>
  );
}

/**
 * A form over rows: sends what was changed alone, checks with the daemon's own schema before it sends, shows what the
 * daemon refused at its field, and keeps what was typed, also when the file has changed meanwhile.
 */
export function RecordForm(props: {
  rows: readonly FieldRow[];
  more: readonly FieldRow[];
  baseline: Draft;
  create: boolean;
  /** No field offers the way back to its default. */
  fixed?: boolean;
  /** What an empty field means: "default", or "as it is". */
  empty: string;
  check: (body: Record<string, unknown>) => Issues;
  action: string;
  /** Of a form over a file: how old what it shows is. */
  look?: Look;
  busy: boolean;
  error: unknown;
  onSend: (body: Record<string, unknown>) => void;
  children?: ReactNode;
}): ReactElement {
  const all = [...props.rows, ...props.more];
  const form = useDraft(props.baseline, props.check, props.error);
  const state: FormState = { draft: form.whole, issues: form.issues(all), set: form.set };
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
          {path}: {reason}
        </p>
      ))}
      {props.error == null ? null : <Refusal error={props.error} look={props.look} />}
      {props.children}
      <div className={css.actions}>
        <Button
          type="submit"
          look="main"
          busy={props.busy}
          disabled={!props.create && Object.keys(body).length === 0}
        >
          {props.look == null || props.look.refusal === null ? props.action : 'Save over it'}
        </Button>
      </div>
    </form>
  );
}
