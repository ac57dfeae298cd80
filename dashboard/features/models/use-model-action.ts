import { useQueryClient } from '@tanstack/react-query';
import { useAction } from '../../api/action.ts';
import { type CallOptions, call } from '../../api/client.ts';
import { withPull } from '../../api/events.ts';
import { keyOf } from '../../api/queries.ts';
import type { Responses } from '../../api/responses.ts';

type ActId =
  | 'model.put'
  | 'model.remove'
  | 'model.register'
  | 'model.scan'
  | 'model.pull'
  | 'catalog.update'
  | 'catalog.reset'
  | 'pull.pause'
  | 'pull.resume'
  | 'pull.cancel';
/** Reading headers, contacting the hub and ending a transfer take long. */
const LIMIT_MS = 120_000;

/** An action on models or downloads. Invalidates the affected queries and shows the returned download immediately. */
export function useModelAction<Id extends ActId>(id: Id, onDone: (answer: Responses[Id]) => void = () => {}) {
  const client = useQueryClient();
  return useAction({
    send: (options: CallOptions) => call(id, options, LIMIT_MS),
    onSuccess: (answer) => {
      if (id === 'model.pull' || id.startsWith('pull.')) {
        const pull = answer as Responses['model.pull'];
        client.setQueryData<Responses['pulls']>(keyOf('pulls'), (list) => withPull(list, pull));
      }
      const stale = ['pulls', 'models', 'model.catalog', 'v1.models', 'slots'] as const;
      for (const each of stale) void client.invalidateQueries({ queryKey: keyOf(each) });
    },
    onDone,
  });
}
