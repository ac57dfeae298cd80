import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../../contract/errors.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

/** A caller that reads nothing for this long is disconnected. */
const STALL_MS = 60_000;

/** Generated images, by their ids. */
export function imageRoutes(deps: RouteDeps) {
  const picture: Handler = async (ctx, call) => {
    const kept = await deps.inference.image(call.params.uuid ?? '');
    if (kept === null) throw new GatewayError('image.not_found');
    const { res, req } = ctx;
    res.writeHead(200, {
      'content-type': 'image/png',
      'content-length': kept.length,
    });
    if (req.method === 'HEAD') {
      kept.stream.destroy();
      return void res.end();
    }
    res.setTimeout(STALL_MS, () => res.destroy());
    // A disconnect of the caller ends it. There is no one to report to.
    await pipeline(kept.stream, res).catch(() => res.destroy());
  };
  return { 'images.cache': picture } satisfies Record<string, Handler>;
}
