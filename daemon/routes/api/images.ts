import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../../contract/errors.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyHandler as Handler } from '../handler.ts';

/** A caller that reads nothing for this long is disconnected. */
const STALL_MS = 60_000;

/** Generated images, by their ids. */
export function imageRoutes(deps: RouteDeps) {
  const getImage: Handler = async (ctx, call) => {
    const cached = await deps.inference.image(call.params.uuid ?? '');
    if (cached === null) throw new GatewayError('image.not_found');
    const { res, req } = ctx;
    res.writeHead(200, {
      'content-type': 'image/png',
      'content-length': cached.length,
    });
    if (req.method === 'HEAD') {
      cached.stream.destroy();
      return void res.end();
    }
    res.setTimeout(STALL_MS, () => res.destroy());
    // A disconnect of the caller ends it. There is no one to report to.
    await pipeline(cached.stream, res).catch(() => res.destroy());
  };
  return { 'images.cache': getImage } satisfies Record<string, Handler>;
}
