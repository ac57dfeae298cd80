import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react';
import { ModelRegister } from '../../../daemon/contract/models.ts';
import { toFailureInfo } from '../../api/api-error.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { type FieldRow, issuesOf, refusedFields } from '../../ui/form/draft.ts';
import { TextInput } from '../../ui/inputs.tsx';

const PATH: FieldRow = { key: 'path', label: 'The path', help: '', kind: 'text' };
const EMPTY = 'Enter the path of a model.';

/** Why a path is refused before it is sent; null when it can be sent. */
function refusalOf(path: string): string | null {
  if (path === '') return EMPTY;
  return issuesOf(ModelRegister, { path }, [PATH]).path ?? null;
}

/**
 * A form for the path of a model on the gateway machine. Shows why a path is refused at its field, and leaves a refused
 * path there.
 */
export function PathForm(props: {
  className: string | undefined;
  help: string;
  action: string;
  main?: boolean;
  busy: boolean;
  error: unknown;
  onSend: (path: string) => void;
  /** Wraps the submit button. */
  actions: (submit: ReactElement) => ReactNode;
}): ReactElement {
  const [path, setPath] = useState('');
  const [refusal, setRefusal] = useState<string | null>(null);
  const refused = props.error == null ? {} : refusedFields(toFailureInfo(props.error).details, [PATH]);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const reason = refusalOf(path.trim());
    setRefusal(reason);
    if (reason === null) props.onSend(path.trim());
  };
  return (
    <form className={props.className} onSubmit={send} noValidate>
      <TextInput
        label="Path on the gateway machine"
        help={props.help}
        error={refusal ?? refused.path}
        exact
        placeholder="/srv/models/model.gguf"
        value={path}
        onChange={(next) => {
          setPath(next);
          setRefusal(null);
        }}
      />
      {props.error == null || refusal !== null ? null : (
        <Failure error={props.error} headline={refused.path} />
      )}
      {props.actions(
        <Button type="submit" variant={props.main ? 'main' : 'plain'} busy={props.busy}>
          {props.action}
        </Button>,
      )}
    </form>
  );
}
