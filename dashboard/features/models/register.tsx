import { type FormEvent, type ReactElement, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import dialog from '../../ui/dialog.module.css';
import { Failure } from '../../ui/failure.tsx';
import { TextInput } from '../../ui/inputs.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import css from './models.module.css';
import { useModelAct } from './use-model-act.ts';

/** Registers a file or folder of the gateway's machine; what was typed stays when it is refused. */
export function Register(props: { onClose: () => void; onDone: (id: string) => void }): ReactElement {
  const [path, setPath] = useState('');
  const register = useModelAct('model.register', (model) => props.onDone(model.id));
  const send = (event: FormEvent): void => {
    event.preventDefault();
    register.mutate({ body: { path: path.trim() } });
  };
  return (
    <Sheet title="Register a model by its path" onClose={props.onClose}>
      <form className={css.part} onSubmit={send}>
        <TextInput
          label="Path on the machine of the gateway"
          help="A GGUF file (the first part of a split one), or a folder of safetensors or of a speech model. It is read where it lies; nothing is copied. The gateway's own user must be able to read it."
          exact
          placeholder="/srv/models/model.gguf"
          value={path}
          onChange={setPath}
        />
        {register.error === null ? null : <Failure error={register.error} />}
        <div className={dialog.actions}>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button look="main" type="submit" disabled={!path.trim().startsWith('/')} busy={register.isPending}>
            Register it
          </Button>
        </div>
      </form>
    </Sheet>
  );
}
