import { GatewayError } from '../../contract/errors.ts';

/** Refusals after which the next slot of a virtual name's chain is tried. */
export const FALLS_ON: ReadonlySet<string> = new Set(['slot.no_memory', 'slot.failed']);

/**
 * Deviation 7 (spec "Chat completions deviations"): before forwarding, the slot manager loads the model. `ready` asks
 * for that outcome slot by slot: the one that was meant, then the rest of its chain when memory was refused or it has
 * failed, of which `fell` is told. Throws what the last one threw.
 */
export async function loadModel<T>(
  slot: string,
  chain: readonly string[],
  ready: (slot: string) => Promise<T>,
  fell: (refusal: GatewayError) => void = () => {},
): Promise<T> {
  const [next, ...rest] = chain;
  if (next === undefined) return ready(slot);
  try {
    return await ready(slot);
  } catch (error) {
    if (!(error instanceof GatewayError) || !FALLS_ON.has(error.code)) throw error;
    fell(error);
    return loadModel(next, rest, ready, fell);
  }
}
