import { engineOf } from '../slots/engines/table.ts';
import type { SlotView } from '../slots/slot-view.ts';
import type { RegisteredModelLike } from './ports.ts';
import type { MediaSupport } from './rewrite/body-rule.ts';

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

/** Engines that the gateway starts with a GGUF file, whose vision depends on the model and projector alone. */
const GGUF_ENGINES: ReadonlySet<string> = new Set(['embedded', 'llama-server']);

/** Returns what a slot reads besides text; `unknown` for an engine whose model the gateway does not know. */
export function slotMedia(
  model: Parameters<typeof supportsVision>[0] | null,
  slot: Parameters<typeof supportsVision>[1] | null,
): MediaSupport {
  if (!slot || slot.runner === 'attach' || !GGUF_ENGINES.has(slot.engine)) return 'unknown';
  return supportsVision(model ?? undefined, slot) && slot.engine !== 'embedded' ? 'images' : 'text';
}
