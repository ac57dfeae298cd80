import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Note } from '../../ui/note.tsx';
import { PathForm } from '../shared/path-form.tsx';
import css from './setup.module.css';

/** Reading the header of a large file on a slow disk takes long. */
const LIMIT_MS = 60_000;

function useRegister() {
  const client = useQueryClient();
  return useAction({
    send: (path: string) => call('model.register', { body: { path } }, LIMIT_MS),
    onSuccess: () => {
      for (const id of ['setup', 'models', 'slots', 'v1.models'] as const)
        void client.invalidateQueries({ queryKey: keyOf(id) });
    },
  });
}

/** Adds a model file or folder that is already on the machine; works offline. */
export function FilePath(): ReactElement {
  const register = useRegister();
  return (
    <details className={css.more}>
      <summary>Use a model file already on this machine</summary>
      <div className={css.moreBody}>
        <PathForm
          className={css.pathForm}
          help="A .gguf file, or the folder of a speech model. Used in place, not copied."
          action="Use this model"
          busy={register.isPending}
          error={register.error}
          onSend={(path) => register.mutate(path)}
          actions={(submit) => <div>{submit}</div>}
        />
        {register.data !== undefined ? (
          <Note tone="ok">
            <p>
              Added {register.data.name}. Use it as model <code>{register.data.id}</code>.
            </p>
          </Note>
        ) : null}
      </div>
    </details>
  );
}
