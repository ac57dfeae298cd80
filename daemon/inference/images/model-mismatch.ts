import { GatewayError } from '../../contract/errors.ts';
import type { ImageModel } from '../../models/images/curated.ts';
import type { SlotView } from '../../slots/slot-view.ts';
import { ownImageModel } from './own-model.ts';

/** Engines with one model per process. */
const SINGLE_MODEL_ENGINES: ReadonlySet<string> = new Set(['sd-server']);

type MatchedSlot = Pick<SlotView, 'name' | 'engine' | 'model'> & Pick<Partial<SlotView>, 'imageSettings'>;

/** Returns 404 for a slot whose engine would draw with another model than requested; null otherwise. */
export function modelMismatch(named: ImageModel, slot: MatchedSlot): GatewayError | null {
  if (!SINGLE_MODEL_ENGINES.has(slot.engine) || ownImageModel(slot)?.id === named.id) return null;
  return new GatewayError('dispatch.no_route', {
    message: `No slot or upstream draws with ${named.id}; slot ${slot.name} has another model.`,
    param: 'model',
    details: { suggestions: slot.model === null ? [] : [slot.model] },
  });
}
