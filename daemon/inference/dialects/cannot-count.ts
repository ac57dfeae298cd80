import { GatewayError } from '../../contract/errors.ts';
import { type EngineFailure, judge, type Verdict } from '../forward/engine-error.ts';

/** How servers answer a route that they do not have, or do not give to everybody. */
const NO_ROUTE: ReadonlySet<number> = new Set([401, 403, 404, 405, 501]);

/** The failure of a count: an engine without such a route cannot count, and nobody guesses for it. */
export function cannotCount(failure: EngineFailure): Verdict {
  if (!NO_ROUTE.has(failure.status)) return judge(failure);
  const error = new GatewayError('dispatch.capability_mismatch', {
    message: 'The engine or upstream of this model cannot count tokens.',
    param: 'model',
    details: { upstream_status: failure.status },
  });
  return { passes: false, error };
}
