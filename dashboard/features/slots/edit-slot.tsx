import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { SlotCreate, SlotSettings } from '../../../daemon/contract/slots.ts';
import { queries } from '../../api/queries.ts';
import { issuesOf } from '../../ui/form/draft.ts';
import { RecordForm } from '../../ui/form/record-form.tsx';
import { Note } from '../../ui/note.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import type { SlotDialogProps } from './slot-dialog.tsx';
import { slotBaseline, slotRows } from './slot-rows.ts';
import { useAct } from './use-act.ts';

function useModelIds(): string[] {
  const { data } = useQuery(queries.registry);
  return data?.models.map(({ id }) => id) ?? [];
}

/** Adds a slot; nothing is loaded by that. */
export function NewSlot(props: { onClose: () => void }): ReactElement {
  const create = useAct('slot.create', props.onClose);
  const { rows, more } = slotRows(useModelIds(), true);
  return (
    <Sheet title="A new slot" onClose={props.onClose}>
      <RecordForm
        rows={rows}
        more={more}
        baseline={{}}
        create
        empty="default"
        check={(body) => issuesOf(SlotCreate, body, [...rows, ...more])}
        action="Add the slot"
        busy={create.isPending}
        error={create.error}
        onSend={(body) => create.mutate({ name: '', body })}
      />
    </Sheet>
  );
}

/** Changes the file of a slot: what is not touched stays as it is, comments included. */
export function EditSlot({ slot, onClose }: SlotDialogProps): ReactElement {
  const plan = useQuery({ ...queries.plan(slot.name), refetchInterval: false, retry: false });
  const change = useAct('slot.change', onClose);
  const { rows, more } = slotRows(useModelIds(), false);
  return (
    <Sheet title={`Settings of slot ${slot.name}`} onClose={onClose}>
      <Note tone="idle">
        <p>
          {slot.auto
            ? 'This slot is automatic; a change gives it a file of its own.'
            : 'Only what you change is written; everything else in the file stays as it is.'}{' '}
          {slot.pid === null ? '' : 'The engine that runs now keeps its settings until its next start.'}
        </p>
      </Note>
      {plan.isPending ? (
        <Skeleton lines={8} what="the settings" />
      ) : (
        <RecordForm
          rows={rows}
          more={more}
          baseline={slotBaseline(slot, plan.data)}
          create={false}
          empty="as it is"
          check={(body) => issuesOf(SlotSettings, body, [...rows, ...more])}
          action="Save"
          busy={change.isPending}
          error={change.error}
          onSend={(body) => change.mutate({ name: slot.name, body })}
        />
      )}
    </Sheet>
  );
}
