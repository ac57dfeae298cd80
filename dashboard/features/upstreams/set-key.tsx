import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { TextInput } from '../../ui/inputs.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { keyVariableOf } from './key-variable.ts';
import type { UpstreamDialogProps } from './upstream-dialog-props.ts';
import css from './upstreams.module.css';

/** Sets the key of an upstream. The gateway writes it to api.env and never returns it. */
export function SetKey({ upstream, onClose }: UpstreamDialogProps): ReactElement {
  const client = useQueryClient();
  const [value, setValue] = useState('');
  const variable = upstream.key_env ?? keyVariableOf(upstream.name);
  const save = useAction({
    send: async () => {
      await call('secret.put', { params: { name: variable }, body: { value } });
      if (upstream.key_env == null)
        await call('upstream.put', { params: { name: upstream.name }, body: { key_env: variable } });
    },
    onSuccess: () => {
      for (const id of ['upstreams', 'v1.models'] as const)
        void client.invalidateQueries({ queryKey: keyOf(id) });
    },
    onDone: onClose,
  });
  return (
    <Sheet title={`Key of upstream ${upstream.name}`} onClose={onClose}>
      <form
        className={css.test}
        onSubmit={(event) => {
          event.preventDefault();
          if (value.trim() !== '') save.mutate();
        }}
      >
        <TextInput
          secret
          exact
          label="Key"
          value={value}
          help="Applies to the next request. The key cannot be read here afterwards."
          onChange={setValue}
        />
        <p className={css.soft}>
          The gateway writes it to <code>api.env</code> as <code>{variable}</code>
          {upstream.key_set === true ? ' and replaces the current key.' : '.'}
        </p>
        <Button type="submit" variant="main" busy={save.isPending} disabled={value.trim() === ''}>
          Save key
        </Button>
      </form>
      <div aria-live="polite">{save.error === null ? null : <Failure error={save.error} />}</div>
    </Sheet>
  );
}
