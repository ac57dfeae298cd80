import { GatewayError } from '../../contract/errors.ts';
import type { RouteDeps } from '../deps.ts';
import type { Call, Handler } from '../handler.ts';

/** `PUT /api/models/{id}`: who answers to a model's id. */
export function bindingRoutes(deps: RouteDeps) {
  return {
    'model.put': (_ctx, call, body) => bind(deps, call, (body as { binding: string | null }).binding),
  } satisfies Record<string, Handler>;
}

/** Says who answers to a model's id: a slot that holds this model, or an upstream. */
function bind(deps: RouteDeps, call: Call, binding: string | null) {
  const id = call.params.id ?? '';
  if (!deps.registry.get(id)) throw new GatewayError('model.not_found', { param: 'model' });
  const [kind, name = ''] = binding?.split(':') ?? [];
  if (kind === 'upstream' && !deps.upstreams.config(name)) throw new GatewayError('upstream.not_found');
  if (kind === 'slot') {
    const slot = deps.slots.get(name);
    if (!slot) throw new GatewayError('slot.not_found');
    if (slot.model !== id) throw refused('this slot serves another model; give it this one first');
  }
  deps.store.audit.add({
    action: 'model.bind',
    tier: call.caller.tier,
    address: deps.auth.address(call.auth),
    details: { model: id, binding },
  });
  return deps.registry.bind(id, binding);
}

const refused = (reason: string) =>
  new GatewayError('request.invalid', { details: { fields: [{ path: 'binding', reason }] } });
