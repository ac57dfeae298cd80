import { GatewayError } from '../../contract/errors.ts';
import type { SlotTypeName } from '../../contract/slots.ts';
import type { DispatchRequest, Target } from './resolver.ts';
import { type RoutingView, slotNamed } from './routing-view.ts';

const ABILITY: Record<SlotTypeName, string> = {
  llm: 'chats',
  embedding: 'makes embeddings',
  rerank: 'reranks',
  stt: 'transcribes speech',
  tts: 'speaks',
  image: 'makes images',
};

/**
 * Returns 409 `dispatch.capability_mismatch` when the chosen slot cannot do what the path requires; null
 * otherwise.
 */
export function capabilityMismatch(
  request: DispatchRequest,
  target: Target,
  view: RoutingView,
): GatewayError | null {
  if (target.kind !== 'slot') return null;
  const slot = slotNamed(view, target.slot);
  if (!slot || slot.type === request.type) return null;
  return new GatewayError('dispatch.capability_mismatch', {
    message: `Slot ${slot.name} ${ABILITY[slot.type]}; this route needs a model that ${ABILITY[request.type]}.`,
    param: 'model',
    details: { slot: slot.name, type: slot.type, needed: request.type },
  });
}
