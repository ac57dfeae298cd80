import { useQueryClient } from '@tanstack/react-query';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { useAction } from '../../api/action.ts';
import { call, ifMatch } from '../../api/client.ts';
import { withSlot } from '../../api/events.ts';
import { keyOf } from '../../api/queries.ts';
import type { Responses } from '../../api/responses.ts';

type ActId =
  | 'slot.load'
  | 'slot.unload'
  | 'slot.restart'
  | 'slot.swap'
  | 'slot.create'
  | 'slot.change'
  | 'slot.workflow';
/** Actions that continue after the response; events report their outcome. */
const ASYNC_ACTIONS: ReadonlySet<ActId> = new Set(['slot.load', 'slot.unload', 'slot.restart', 'slot.swap']);
/** A change may have to stop an engine first. */
const LIMIT_MS = 60_000;

interface Sent {
  name: string;
  body?: Record<string, unknown>;
  /** Revision of the slot file that the form was filled from. */
  revision?: string | undefined;
}

/** An action on a slot. Shows the returned record immediately. */
export function useSlotAction(id: ActId, onDone: () => void) {
  const client = useQueryClient();
  return useAction({
    send: ({ name, body, revision }: Sent): Promise<SlotRecord> =>
      call(
        id,
        {
          params: { name },
          ...(ASYNC_ACTIONS.has(id) ? { query: { wait: 'false' } } : {}),
          ...(body === undefined ? {} : { body }),
          ...(revision === undefined ? {} : { headers: ifMatch(revision) }),
        },
        LIMIT_MS,
      ),
    onSuccess: (slot) => {
      client.setQueryData<Responses['slots']>(keyOf('slots'), (list) => withSlot(list, slot));
      for (const stale of ['slots', 'slot.plan', 'slot.settings', 'v1.models'] as const) {
        void client.invalidateQueries({ queryKey: keyOf(stale) });
      }
    },
    onError: () => void client.invalidateQueries({ queryKey: keyOf('slot.settings') }),
    onDone,
  });
}
