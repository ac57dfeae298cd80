import type { GatewayEvents } from '../../contract/events.ts';
import { coalesce } from '../../lib/async/coalesce.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import type { Log } from '../../lib/log.ts';
import type { SlotSet } from '../slot-set.ts';
import type { AutoSlots } from './auto-slots.ts';

/**
 * Updates the slots when models or hardware change, and when a model cannot be loaded. Coalesces events, because a scan emits hundreds of them and
 * each one concerns every slot. Returns a function that unsubscribes.
 */
export function followModels(
  set: Pick<SlotSet, 'all' | 'reconcile'>,
  auto: Pick<AutoSlots, 'recordState' | 'forgetModel'>,
  bus: EventBus<GatewayEvents>,
  log: Pick<Log, 'error'>,
): () => void {
  const follow = coalesce(() => {
    // Coalesced runs have no caller that could catch an error.
    try {
      for (const controller of set.all()) controller.refreshModel();
      set.reconcile();
    } catch (cause) {
      log.error({ err: cause }, 'the slots could not be updated after a change of the models');
    }
  });
  return bus.subscribe(({ name, payload }) => {
    if (name === 'model') auto.forgetModel((payload as GatewayEvents['model']).id);
    const isFailure = name === 'slot' && auto.recordState((payload as GatewayEvents['slot']).slot);
    if (name === 'model' || name === 'hardware' || isFailure) follow();
  });
}
