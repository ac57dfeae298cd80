import { engineOf } from '../slots/engines/table.ts';
import type { SlotView } from '../slots/slot-view.ts';
import type { RegisteredModelLike } from './ports.ts';

/**
 * Returns whether a model accepts images where it runs: natively, because its slot says so, or with a
 * projector that the slot's engine loads. Pure.
 */
export function supportsVision(
  model: Pick<RegisteredModelLike, 'capabilities' | 'projector'> | undefined,
  slot: Pick<SlotView, 'engine' | 'runner' | 'vision'> | undefined,
): boolean {
  if (slot?.vision || model?.capabilities?.vision) return true;
  if (!model?.projector || slot === undefined || slot.runner === 'attach') return false;
  return engineOf(slot.engine)?.takesProjector ?? false;
}
