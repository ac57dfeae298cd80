import { GatewayError } from '../../contract/errors.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

/** A caller that reads nothing for this long is disconnected. */
const STALL_MS = 60_000;

/** Generated images, by their ids. */
export function imageRoutes(deps: RouteDeps) {
  const getImage: Handler = async (ctx) => {
    const cached = await deps.inference.image(ctx.params.uuid ?? '');
    if (cached === null) throw new GatewayError('image.not_found');
    ctx.type = 'image/png';
    ctx.length = cached.length;
    ctx.body = cached.stream;
    ctx.res.setTimeout(STALL_MS, () => ctx.res.destroy());
  };
  return { 'images.cache': getImage } satisfies Record<string, Handler>;
}
