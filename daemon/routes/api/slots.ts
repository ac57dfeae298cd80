import { GatewayError } from '../../contract/errors.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import type { RouteDeps } from '../deps.ts';
import type { Call, Handler } from '../handler.ts';

/** `/api/slots…`: states and the three verbs of an admin. */
export function slotRoutes(deps: RouteDeps) {
  const verb =
    (action: 'load' | 'unload' | 'restart'): Handler =>
    async (_ctx, call) => {
      const name = named(deps, call).name;
      deps.store.audit.add({
        action: `slot.${action}`,
        tier: call.caller.tier,
        address: deps.auth.address(call.auth),
        details: { slot: name },
      });
      return deps.slots[action](name);
    };
  return {
    slots: () => ({ slots: deps.slots.list() }),
    slot: (_ctx, call) => named(deps, call),
    'slot.load': verb('load'),
    'slot.unload': verb('unload'),
    'slot.restart': verb('restart'),
  } satisfies Record<string, Handler>;
}

function named(deps: RouteDeps, call: Call): SlotRecord {
  const slot = deps.slots.get(call.params.name ?? '');
  if (!slot) throw new GatewayError('slot.not_found');
  return slot;
}
