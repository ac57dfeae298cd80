import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { count } from '../../ui/format.ts';
import type { UpstreamDialogProps } from './upstream-dialog-props.ts';

/** Confirms the removal of an upstream and its file. */
export function RemoveUpstream({ upstream, onClose }: UpstreamDialogProps): ReactElement {
  const client = useQueryClient();
  const remove = useAction({
    send: () => call('upstream.remove', { params: { name: upstream.name } }),
    onSuccess: () => {
      for (const id of ['upstreams', 'v1.models'] as const) {
        void client.invalidateQueries({ queryKey: keyOf(id) });
      }
    },
    onDone: onClose,
  });
  return (
    <Confirm
      open
      title={`Remove upstream ${upstream.name}?`}
      action="Remove upstream"
      danger
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        Deletes <code>upstreams/{upstream.name}.toml</code>. {count(upstream.models)}{' '}
        {upstream.models === 1 ? 'model disappears' : 'models disappear'} from your model list. Requests for
        them are refused unless something else serves them.
        {upstream.key_env == null ? '' : ` The variable ${upstream.key_env} stays in api.env.`}
      </p>
    </Confirm>
  );
}
