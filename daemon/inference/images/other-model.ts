import { GatewayError } from '../../contract/errors.ts';
import type { SlotView } from '../../slots/slot-view.ts';
import { type CuratedModel, curatedModel } from './curated.ts';

/** Engines with one model for each process: what they hold is what they draw. */
const SINGLE_MODEL_ENGINES: ReadonlySet<string> = new Set(['sd-server']);

/** 404 for a slot whose engine would draw with another model than the one that was named; null when it draws with that. */
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
