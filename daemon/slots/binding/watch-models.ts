import type { GatewayEvents } from '../../contract/events.ts';
import { againAfter } from '../../lib/async/coalesce.ts';
import type { Bus } from '../../lib/async/event-bus.ts';
import type { Log } from '../../lib/log.ts';
import type { SlotSet } from '../slot-set.ts';

/**
 * Has the slots follow the models and the machine, which decides what fits. A scan tells of hundreds of models at once, and
 * each of them concerns every slot. Answers what ends it.
 */
export function followModels(
  set: Pick<SlotSet, 'all' | 'reconcile'>,
  bus: Bus<GatewayEvents>,
  log: Pick<Log, 'error'>,
): () => void {
  const follow = againAfter(() => {
    // Half of the runs are nobody's who could catch it.
    try {
      for (const controller of set.all()) controller.refreshModel();
      set.reconcile();
    } catch (cause) {
      log.error({ err: cause }, 'the slots could not follow the models');
    }
  });
  return bus.subscribe(({ name }) => {
    if (name === 'model' || name === 'hardware') follow();
  });
}
