import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useAct } from '../../api/act.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { TextInput } from '../../ui/inputs.tsx';
import { Note } from '../../ui/note.tsx';
import css from './setup.module.css';

/** Reading the header of a large file on a slow disk. */
const LIMIT_MS = 60_000;

function useRegister() {
  const client = useQueryClient();
  return useAct({
    send: (path: string) => call('model.register', { body: { path } }, LIMIT_MS),
    onSuccess: () => {
      for (const id of ['setup', 'models', 'slots', 'v1.models'] as const)
        void client.invalidateQueries({ queryKey: keyOf(id) });
    },
  });
}

/** The way of a machine that is offline: a file or folder that lies on it. */
export function FilePath(): ReactElement {
  const [path, setPath] = useState('');
  const register = useRegister();
  return (
    <details className={css.more}>
      <summary>A model file that is on this machine</summary>
      <div className={css.moreBody}>
        <form
          className={css.pathForm}
          onSubmit={(event) => {
            event.preventDefault();
            register.mutate(path.trim());
          }}
        >
          <TextInput
            label="Path on the machine of the gateway"
            help="A .gguf file, or the folder of a speech model. It stays where it is."
            exact
            placeholder="/srv/models/model.gguf"
            value={path}
            onChange={setPath}
          />
          <div>
            <Button type="submit" busy={register.isPending} disabled={path.trim() === ''}>
              Use this model
            </Button>
          </div>
        </form>
        {register.isError ? <Failure error={register.error} /> : null}
        {register.data !== undefined ? (
          <Note tone="ok">
            <p>
              {register.data.name} is here. It answers to the name <code>{register.data.id}</code>.
            </p>
          </Note>
        ) : null}
      </div>
    </details>
  );
}
