import type { ReactElement } from 'react';
import { Button } from '../../ui/button.tsx';
import dialog from '../../ui/dialog.module.css';
import { Sheet } from '../../ui/sheet.tsx';
import { PathForm } from '../shared/path-form.tsx';
import css from './models.module.css';
import { useModelAction } from './use-model-action.ts';

/** Adds a model file or folder from the gateway machine. */
export function Register(props: { onClose: () => void; onDone: (id: string) => void }): ReactElement {
  const register = useModelAction('model.register', (model) => props.onDone(model.id));
  return (
    <Sheet title="Add a model from disk" onClose={props.onClose}>
      <PathForm
        className={css.part}
        help="A GGUF file (the first part of a split one), or a folder of safetensors or of a speech model. Used in place, not copied. The user that runs the gateway must be able to read it; ~ is the home folder of that user."
        action="Add model"
        main
        busy={register.isPending}
        error={register.error}
        onSend={(path) => register.mutate({ body: { path } })}
        actions={(submit) => (
          <div className={dialog.actions}>
            <Button onClick={props.onClose}>Cancel</Button>
            {submit}
          </div>
        )}
      />
    </Sheet>
  );
}
