import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { SlotCreate, SlotSettings, type SlotSettingsView } from '../../../daemon/contract/slots.ts';
import { queries } from '../../api/queries.ts';
import { issuesOf } from '../../ui/form/draft.ts';
import { useEditBase } from '../../ui/form/edit-base.ts';
import { RecordForm } from '../../ui/form/record-form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/note.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import type { SlotDialogProps } from './slot-dialog-props.ts';
import { fileOnly, ofModel, slotBaseline, slotRows, withOrigins } from './slot-rows.ts';
import css from './slots.module.css';
import { useSlotAction } from './use-slot-action.ts';

function useModelIds(): string[] {
  const { data } = useQuery(queries.registry);
  return data?.models.map(({ id }) => id) ?? [];
}

/** Adds a slot without loading it. */
export function NewSlot(props: { onClose: () => void }): ReactElement {
  const create = useSlotAction('slot.create', props.onClose);
  const { rows, more } = slotRows(useModelIds(), true);
  return (
    <Sheet title="New slot" onClose={props.onClose}>
      <RecordForm
        rows={rows}
        more={more}
        baseline={{}}
        create
        empty="default"
        check={(body) => issuesOf(SlotCreate, body, [...rows, ...more])}
        action="Add slot"
        busy={create.isPending}
        error={create.error}
        onSend={(body) => create.mutate({ name: '', body })}
      />
    </Sheet>
  );
}

/** Settings that the form cannot change. */
function ReadOnly(props: { title: string; rows: [key: string, value: string][] }): ReactElement | null {
  const { title, rows } = props;
  if (rows.length === 0) return null;
  return (
    <section className={css.fileOnly} aria-label={title}>
      <h3>{title}</h3>
      <Facts rows={rows.map(([key, value]) => [key, <code key={key}>{value}</code>])} />
    </section>
  );
}

function Form({ slot, settings, onClose }: SlotDialogProps & { settings: SlotSettingsView }): ReactElement {
  const change = useSlotAction('slot.change', onClose);
  const editBase = useEditBase(settings.revision, change.error);
  const { rows, more } = slotRows(useModelIds(), false);
  return (
    <>
      {settings.problems.length === 0 ? null : (
        <Note tone="attention">
          {settings.problems.map(({ line, message }) => (
            <p key={`${line} ${message}`}>
              {settings.file}
              {line === null ? '' : `, line ${line}`}: {message}
            </p>
          ))}
        </Note>
      )}
      <RecordForm
        rows={withOrigins(rows, settings)}
        more={withOrigins(more, settings)}
        baseline={slotBaseline(settings)}
        create={false}
        empty="not set"
        check={(body) => issuesOf(SlotSettings, body, [...rows, ...more])}
        action="Save"
        editBase={editBase}
        busy={change.isPending}
        error={change.error}
        onSend={(body) => change.mutate({ name: slot.name, body, revision: editBase.revision })}
      />
      <ReadOnly title="Set only in the slot file" rows={fileOnly(settings)} />
      <ReadOnly title="Sampling that the model file recommends" rows={ofModel(settings)} />
    </>
  );
}

/** Edits the file of a slot. Everything else in the file is preserved, including comments. */
export function EditSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  // Not cached: each form starts from the current revision.
  const settings = useQuery({ ...queries.slotSettings(slot.name), gcTime: 0 });
  return (
    <Sheet title={`Settings of slot ${slot.name}`} onClose={onClose}>
      <Note tone="idle">
        <p>
          {slot.auto
            ? 'This slot is automatic. Saving a change creates a slot file.'
            : 'Only your changes are written; the rest of the file stays as it is.'}{' '}
          {slot.pid === null ? '' : 'Changes apply when the model is next loaded.'}
        </p>
      </Note>
      <Loaded query={settings} what="the settings" lines={8}>
        {(data) => <Form slot={slot} settings={data} onClose={onClose} />}
      </Loaded>
    </Sheet>
  );
}
