import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import type { SettingRow } from '../../../daemon/contract/system.ts';
import { useAct } from '../../api/act.ts';
import { call, ifMatch } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import type { Responses } from '../../api/responses.ts';
import { Button } from '../../ui/button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { type FieldRow, textOf } from '../../ui/form/draft.ts';
import { useLook } from '../../ui/form/look.ts';
import { RecordForm } from '../../ui/form/record-form.tsx';
import { Note } from '../../ui/note.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { keyOfSetting, kindOfSetting, lockOfSetting, type SettingLock, valueText } from './setting-words.ts';

const HOW: Record<NonNullable<SettingLock>, (row: SettingRow) => ReactNode> = {
  secret: () => (
    <>
      Keys never come to this page. <Link href="/security/rotate">Rotate it</Link>, or set it in{' '}
      <code>api.env</code> on the machine itself.
    </>
  ),
  enforcement: () => (
    <>
      It has conditions of its own: <Link href="/security/posture">the switch stands in Security</Link>.
    </>
  ),
  env: (row) => (
    <>
      The environment wins over config.toml: take <code>{row.env}</code> out of <code>api.env</code> (or of
      the environment that the gateway starts in) to change it here.
    </>
  ),
  no_file: (row) => (
    <>
      It is read from the environment alone: set <code>{row.env}</code> in <code>api.env</code>.
    </>
  ),
};

interface Sent {
  value: unknown;
  revision: string | undefined;
}

function useSave(row: SettingRow, onDone: () => void) {
  const client = useQueryClient();
  return useAct({
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

interface EditProps {
  row: SettingRow;
  /** Of config.toml, as the row was read from it. */
  revision: string;
  onClose: () => void;
}

function Editor(props: EditProps): ReactElement {
  const { row } = props;
  const save = useSave(row, props.onClose);
  const look = useLook(props.revision, save.error);
  const send = (value: unknown): void => save.mutate({ value, revision: look.revision });
  const field: FieldRow = {
    key: row.name,
    label: keyOfSetting(row),
    help: row.help,
    kind: kindOfSetting(row),
  };
  const isDefault = JSON.stringify(row.value) === JSON.stringify(row.default);
  return (
    <>
      <RecordForm
        rows={[field]}
        more={[]}
        baseline={{ [row.name]: textOf(row.value) }}
        create={false}
        fixed
        empty="none"
        check={() => ({})}
        action="Write it into config.toml"
        look={look}
        busy={save.isPending}
        error={save.error}
        onSend={(body) => send(body[row.name] ?? (field.kind === 'list' ? [] : ''))}
      />
      {isDefault ? null : (
        <div>
          <Button busy={save.isPending} onClick={() => send(row.default)}>
            Back to the default: {valueText(row.default)}
          </Button>
        </div>
      )}
    </>
  );
}

/** Changes one setting, or says where it is changed. */
export function EditSetting(props: EditProps): ReactElement {
  const { row } = props;
  const lock = lockOfSetting(row);
  return (
    <Sheet title={`Setting ${keyOfSetting(row)}`} onClose={props.onClose}>
      <Facts
        rows={[
          ['Value', row.secret ? (row.set ? 'set' : 'not set') : valueText(row.value)],
          ['Default', row.secret ? null : valueText(row.default)],
          ['Variable', row.env === null ? null : <code key="env">{row.env}</code>],
          ['A change holds', row.live ? 'at once' : 'after a restart of the gateway'],
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
