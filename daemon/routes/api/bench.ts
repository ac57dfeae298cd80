import type { BenchRequestBody } from '../../contract/bench.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import { disconnectSignal } from '../disconnect-signal.ts';
import type { Handler } from '../handler.ts';

/** `/api/models/bench`: measures the speed of a model. It ends when the caller disconnects. */
export function benchRoutes(deps: RouteDeps) {
  const bench: Handler = async (ctx) => {
    const { model } = ctx.request.body as BenchRequestBody;
    const result = await deps.bench.measure(model, disconnectSignal(ctx.res));
    audit(deps, ctx, 'model.bench', { model: result.model });
    ctx.body = result;
  };
  return { 'model.bench': bench } satisfies Record<string, Handler>;
}
