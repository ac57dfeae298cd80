import { useQueryClient } from '@tanstack/react-query';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { useAct } from '../../api/act.ts';
import { call, ifMatch } from '../../api/client.ts';
import { withSlot } from '../../api/events.ts';
import { keyOf } from '../../api/queries.ts';
import type { Responses } from '../../api/responses.ts';

type ActId = 'slot.load' | 'slot.unload' | 'slot.restart' | 'slot.swap' | 'slot.create' | 'slot.change';
/** Acts that go on after their answer: what becomes of them is told by events. */
const UNDER_WAY: ReadonlySet<ActId> = new Set(['slot.load', 'slot.unload', 'slot.restart', 'slot.swap']);
/** A change may have to end an engine first. */
const LIMIT_MS = 60_000;

interface Sent {
  name: string;
  body?: Record<string, unknown>;
  /** Of the slot's file, as the form was filled from it. */
  revision?: string | undefined;
}

/** An act on a slot; the record of the answer is shown at once. */
export function useSlotAct(id: ActId, onDone: () => void) {
  const client = useQueryClient();
  return useAct({
    send: ({ name, body, revision }: Sent): Promise<SlotRecord> =>
      call(
        id,
        {
          params: { name },
          ...(UNDER_WAY.has(id) ? { query: { wait: 'false' } } : {}),
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
