import { GatewayError } from '../../contract/errors.ts';
import type { LoadForecastView, SlotStateName } from '../../contract/slots.ts';
import { noMemoryError } from '../refusals.ts';
import type { Forecast } from './controller.ts';

/** What would happen to a request for a slot now. */
export interface Preview {
  /** What its load would evict, with the memory sum; null for a slot that is loaded or loading. */
  readonly load: LoadForecastView | null;
  /** The error it would get; null when it would be served or would wait. */
  readonly refusal: GatewayError | null;
  /** The slot whose engine would serve it; absent for its own. */
  readonly sharesEngineOf?: string;
}

/** The states from which a request starts a load. A draining or stopping slot is loaded again afterwards. */
const LOADING_STARTS_FROM: ReadonlySet<SlotStateName> = new Set(['offline', 'error', 'draining', 'stopping']);

/**
 * Returns what would happen to a request for a slot in this state. `forecast` may throw what a load would throw.
 * Pure.
 */
export function previewRequest(
  slot: string,
  state: SlotStateName,
  refusal: GatewayError | null,
  forecast: () => Forecast,
): Preview {
  if (!LOADING_STARTS_FROM.has(state)) return { load: null, refusal };
  try {
    const { view } = forecast();
    const noMemory = view.outcome === 'refused' ? noMemoryError(slot, view.sum) : null;
    return { load: view, refusal: refusal ?? noMemory };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { load: null, refusal: refusal ?? error };
  }
}
