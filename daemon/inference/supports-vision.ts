import { engineOf } from '../slots/engines/table.ts';
import type { SlotView } from '../slots/slot-view.ts';
import type { RegisteredModelLike } from './ports.ts';

/**
 * Whether a model can be shown pictures where it runs: by itself, because its slot says so, or because a projector lies beside it and the engine of its
 * slot is started with that. Pure.
 */
export function supportsVision(
  model: Pick<RegisteredModelLike, 'capabilities' | 'projector'> | undefined,
  slot: Pick<SlotView, 'engine' | 'runner' | 'vision'> | undefined,
): boolean {
  if (slot?.vision || model?.capabilities?.vision) return true;
  if (!model?.projector || slot === undefined || slot.runner === 'attach') return false;
  return engineOf(slot.engine)?.takesProjector ?? false;
}
