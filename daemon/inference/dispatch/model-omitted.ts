import { GatewayError } from '../../contract/errors.ts';
import { type ModelRef, plainModelRef } from './model-ref.ts';
import { disabledReason, noRoute } from './no-route.ts';
import { pathRow } from './paths.ts';
import { type RoutingView, slotNamed } from './routing-view.ts';

/**
 * When model is omitted, the path decides (docs/spec/specification.md#model-omitted). Throws
 * `request.missing_model` where a model is required and `dispatch.no_route` when the slot does not exist.
 */
export function modelOmitted(address: ModelRef, path: string, view: RoutingView): ModelRef {
  if (address.requested !== null) return address;
  const { omitted } = pathRow(path);
  if (omitted === null) throw new GatewayError('request.missing_model', { param: 'model' });
  const slot = slotNamed(view, omitted);
  if (!slot) {
    const why = disabledReason(omitted, view) ?? `there is no slot ${omitted}.`;
    throw noRoute(null, view, `No model was given and ${why.replace(/^Slot/, 'slot')}`);
  }
  return { ...plainModelRef(null), model: slot.model, lane: slot.name, by: 'model-omitted' };
}
