import { GatewayError } from '../../contract/errors.ts';
import type { LoadForecastView, SlotStateName } from '../../contract/slots.ts';
import { noMemoryError } from '../refusals.ts';
import type { Forecast } from './controller.ts';

/** What would become of a request that asked for a slot now. */
export interface Foreseen {
  /** What its load would do to others, with the memory sum; null for a slot that is loaded or loading. */
  readonly load: LoadForecastView | null;
  /** What it would be refused with; null when it would be served, or would wait. */
  readonly refusal: GatewayError | null;
}

/** States from which a request begins a load; one that leaves its memory is loaded anew for those who wait. */
const LOADS_FROM: ReadonlySet<SlotStateName> = new Set(['offline', 'error', 'draining', 'stopping']);

/** Foresees a request for a slot in this state. `forecast` may throw what a load would throw. Pure. */
export function foresee(
  slot: string,
  state: SlotStateName,
  refusal: GatewayError | null,
  forecast: () => Forecast,
): Foreseen {
  if (!LOADS_FROM.has(state)) return { load: null, refusal };
  try {
    const { view } = forecast();
    const short = view.outcome === 'refused' ? noMemoryError(slot, view.sum) : null;
    return { load: view, refusal: refusal ?? short };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { load: null, refusal: refusal ?? error };
  }
}
