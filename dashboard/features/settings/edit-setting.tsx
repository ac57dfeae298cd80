import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import type { SettingRow } from '../../../daemon/contract/system.ts';
import { useAction } from '../../api/action.ts';
import { call, ifMatch } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import type { Responses } from '../../api/responses.ts';
import { Button } from '../../ui/button.tsx';
import { type FieldKind, type FieldRow, textOf } from '../../ui/form/draft.ts';
import { useEditBase } from '../../ui/form/edit-base.ts';
import { RecordForm } from '../../ui/form/record-form.tsx';
import { Note } from '../../ui/note.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import {
  fieldHelp,
  keyOfSetting,
  kindOfSetting,
  lockOfSetting,
  type SettingLock,
  valueText,
} from './setting-words.ts';

const HOW: Record<NonNullable<SettingLock>, (row: SettingRow) => ReactNode> = {
  secret: () => (
    <>
      Keys are never shown here. <Link href="/security/rotate">Rotate the key</Link>, or set it in{' '}
      <code>api.env</code> on the gateway machine.
    </>
  ),
  enforcement: () => (
    <>
      Change it <Link href="/security/posture">under Security</Link>, where its conditions are checked.
    </>
  ),
  env: (row) => (
    <>
      The environment variable overrides config.toml. To change it here, remove <code>{row.env}</code> from{' '}
      <code>api.env</code> (or from the environment of the gateway).
    </>
  ),
  table: (row) => (
    <>
      The names of this table are yours: edit <code>[{row.toml}]</code> in <code>config.toml</code>. Changes
      take effect at once.
    </>
  ),
  no_file: (row) => (
    <>
      Only set by environment variable: set <code>{row.env}</code> in <code>api.env</code>.
    </>
  ),
};

interface Sent {
  value: unknown;
  revision: string | undefined;
}

function useSave(row: SettingRow, onDone: () => void) {
  const client = useQueryClient();
  return useAction({
    send: ({ value, revision }: Sent) => {
      const headers = revision === undefined ? {} : ifMatch(revision);
      return call('settings.put', { headers, body: { values: { [row.name]: value } } });
    },
    onError: () => void client.invalidateQueries({ queryKey: keyOf('settings') }),
    onSuccess: (answer) => {
      client.setQueryData<Responses['settings']>(keyOf('settings'), answer);
      for (const id of ['status', 'audit'] as const) void client.invalidateQueries({ queryKey: keyOf(id) });
    },
    onDone,
  });
}

/** What an emptied field means. */
const EMPTY: Partial<Record<FieldKind, unknown>> = { list: [], map: {} };

interface EditProps {
  row: SettingRow;
  /** Revision of config.toml that the row was read from. */
  revision: string;
  onClose: () => void;
}

function Editor(props: EditProps): ReactElement {
  const { row } = props;
  const save = useSave(row, props.onClose);
  const editBase = useEditBase(props.revision, save.error);
  const send = (value: unknown): void => save.mutate({ value, revision: editBase.revision });
  const field: FieldRow = {
    key: row.name,
    label: keyOfSetting(row),
    help: fieldHelp(row),
    kind: kindOfSetting(row),
  };
  const isDefault = JSON.stringify(row.value) === JSON.stringify(row.default);
  return (
    <>
      <RecordForm
        rows={[field]}
        more={[]}
        baseline={{ [row.name]: row.unit === 'bytes' ? valueText(row.value, row.unit) : textOf(row.value) }}
        create={false}
        fixed
        empty="none"
        check={() => ({})}
        action="Save"
        editBase={editBase}
        busy={save.isPending}
        error={save.error}
        onSend={(body) => send(body[row.name] ?? EMPTY[field.kind] ?? '')}
      />
      {isDefault ? null : (
        <div>
          <Button busy={save.isPending} onClick={() => send(row.default)}>
            Reset to default: {valueText(row.default, row.unit)}
          </Button>
        </div>
      )}
    </>
  );
}

/** Edits one setting, or explains where to change it. */
export function EditSetting(props: EditProps): ReactElement {
  const { row } = props;
  const lock = lockOfSetting(row);
  return (
    <Sheet title={`Setting ${keyOfSetting(row)}`} onClose={props.onClose}>
      <Facts
        rows={[
          ['Value', row.secret ? (row.set ? 'set' : 'not set') : valueText(row.value, row.unit)],
          ['Default', row.secret ? null : valueText(row.default, row.unit)],
          ['Environment variable', row.env === null ? null : <code key="env">{row.env}</code>],
          ['Takes effect', row.live ? 'immediately' : 'after a restart'],
        ]}
      />
      {lock === null ? (
        <Editor row={row} revision={props.revision} onClose={props.onClose} />
      ) : (
        <Note tone="idle">
          <p>{HOW[lock](row)}</p>
        </Note>
      )}
    </Sheet>
  );
}
