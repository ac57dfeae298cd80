import { GatewayError } from '../../contract/errors.ts';

/** Error codes after which the next slot of a virtual name's chain is tried. */
export const FAILOVER_CODES: ReadonlySet<string> = new Set(['slot.no_memory', 'slot.failed']);

/**
 * Deviation 7: before forwarding, the slot manager loads the model
 * (docs/spec/specification.md#deviation-load-model). `ready` requests that outcome slot by slot: first the
 * named slot, then the rest of its chain when memory was refused or the slot failed. Calls `onFailover` for
 * each of those. Throws the error of the last slot.
 */
export async function loadModel<T>(
  slot: string,
  chain: readonly string[],
  ready: (slot: string) => Promise<T>,
  onFailover: (refusal: GatewayError) => void = () => {},
): Promise<T> {
  const [next, ...rest] = chain;
  if (next === undefined) return ready(slot);
  try {
    return await ready(slot);
  } catch (error) {
    if (!(error instanceof GatewayError) || !FAILOVER_CODES.has(error.code)) throw error;
    onFailover(error);
    return loadModel(next, rest, ready, onFailover);
  }
}
