import { GatewayError } from '../../contract/errors.ts';
import type { SlotView } from '../../slots/slot-view.ts';
import { type CuratedModel, curatedModel } from './curated.ts';

/** Engines with one model per process. */
const SINGLE_MODEL_ENGINES: ReadonlySet<string> = new Set(['sd-server']);

/** Returns 404 for a slot whose engine would draw with another model than requested; null otherwise. */
export function modelMismatch(
  named: CuratedModel,
  slot: Pick<SlotView, 'name' | 'engine' | 'model'>,
): GatewayError | null {
  if (!SINGLE_MODEL_ENGINES.has(slot.engine) || curatedModel(slot.model ?? '') === named) return null;
  return new GatewayError('dispatch.no_route', {
    message: `No slot or upstream draws with ${named.id}; slot ${slot.name} has another model.`,
    param: 'model',
    details: { suggestions: slot.model === null ? [] : [slot.model] },
  });
}
