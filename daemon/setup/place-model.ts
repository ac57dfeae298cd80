import { GatewayError } from '../contract/errors.ts';
import type { SlotSettingsBody, SlotTypeName } from '../contract/slots.ts';
import type { Slots } from '../slots/slots.ts';

type SlotAdmin = Pick<Slots, 'config' | 'get' | 'create' | 'change' | 'load' | 'restart'>;

export interface Placement {
  readonly slot: string;
  readonly modelId: string;
  readonly type: SlotTypeName;
  /** Context in tokens; null uses the engine's default. */
  readonly context: number | null;
}

const AT_REST: readonly string[] = ['offline', 'error'];

/**
 * Writes a model to the file of its slot and loads it. Resolves when it is ready. A slot with another
 * configured model stays unchanged: 409 `slot.exists`. Throws what `Slots` throws.
 */
export async function configureSlot(
  slots: SlotAdmin,
  { slot, modelId, type, context }: Placement,
  write: <T>(change: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const known = slots.config(slot);
  const settings: SlotSettingsBody = { type, model: modelId, ...(context === null ? {} : { context }) };
  if (known === undefined) await write(() => slots.create(slot, settings));
  else if (!known.auto && known.model !== null && known.model !== modelId)
    throw new GatewayError('slot.exists', { message: `Slot ${slot} already has another model.` });
  else if (known.auto || known.model !== modelId || (context !== null && known.context !== context))
    await write(() => slots.change(slot, settings));
  const { state, context: window } = slots.get(slot) ?? { state: 'offline', context: null };
  const asItIs = AT_REST.includes(state) || (known?.model === modelId && (context ?? window) === window);
  await (asItIs ? slots.load(slot) : slots.restart(slot));
}
