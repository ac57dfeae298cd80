import { type FormEvent, type ReactElement, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import dialog from '../../ui/dialog.module.css';
import { Failure } from '../../ui/failure.tsx';
import { TextInput } from '../../ui/inputs.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import css from './models.module.css';
import { useModelAction } from './use-model-action.ts';

/** Adds a model file or folder from the gateway machine. A refused path stays in the field. */
export function Register(props: { onClose: () => void; onDone: (id: string) => void }): ReactElement {
  const [path, setPath] = useState('');
  const register = useModelAction('model.register', (model) => props.onDone(model.id));
  const send = (event: FormEvent): void => {
    event.preventDefault();
    register.mutate({ body: { path: path.trim() } });
  };
  return (
    <Sheet title="Add a model from disk" onClose={props.onClose}>
      <form className={css.part} onSubmit={send}>
        <TextInput
          label="Path on the gateway machine"
          help="A GGUF file (the first part of a split one), or a folder of safetensors or of a speech model. Used in place, not copied. The user that runs the gateway must be able to read it."
          exact
          placeholder="/srv/models/model.gguf"
          value={path}
          onChange={setPath}
        />
        {register.error === null ? null : <Failure error={register.error} />}
        <div className={dialog.actions}>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button
            variant="main"
            type="submit"
            disabled={!path.trim().startsWith('/')}
            busy={register.isPending}
          >
            Add model
          </Button>
        </div>
      </form>
    </Sheet>
  );
}
