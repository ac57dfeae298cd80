import { cannotCountTokens } from '../../upstreams/refusals.ts';
import { type EngineFailure, judge, type Verdict } from '../forward/engine-error.ts';

/** Statuses of servers for a route that they lack or restrict. */
const NO_ROUTE: ReadonlySet<number> = new Set([401, 403, 404, 405, 501]);

/** Messages of servers about a missing model. */
const NO_MODEL = /model_not_found|\bmodel\b.{0,200}\b(does not exist|not found)/i;

/**
 * Judges the failure of a count. An engine without such a route cannot count; the gateway does not estimate.
 */
export function judgeCount(failure: EngineFailure): Verdict {
  const { status, bytes } = failure;
  if (!NO_ROUTE.has(status) || (status === 404 && NO_MODEL.test(bytes.toString('utf8'))))
    return judge(failure);
  return { passes: false, error: cannotCountTokens(status) };
}
