import { cannotCountTokens } from '../../upstreams/refusals.ts';
import { type EngineFailure, judge, type Verdict } from '../forward/engine-error.ts';

/** How servers answer a route that they do not have, or do not give to everybody. */
const NO_ROUTE: ReadonlySet<number> = new Set([401, 403, 404, 405, 501]);

/** How they say that it is the model that they do not have. */
const NO_MODEL = /model_not_found|\bmodel\b.{0,200}\b(does not exist|not found)/i;

/** The failure of a count: an engine without such a route cannot count, and nobody guesses for it. */
export function judgeCount(failure: EngineFailure): Verdict {
  const { status, bytes } = failure;
  if (!NO_ROUTE.has(status) || (status === 404 && NO_MODEL.test(bytes.toString('utf8'))))
    return judge(failure);
  return { passes: false, error: cannotCountTokens(status) };
}
