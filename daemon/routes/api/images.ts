import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../../contract/errors.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

/** A caller that takes nothing for this long is cut. */
const STALL_MS = 60_000;

/** Pictures that were made here, by their ids alone. */
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
    // A caller who leaves ends it; there is nobody to be told.
    await pipeline(kept.stream, res).catch(() => res.destroy());
  };
  return { 'images.cache': picture } satisfies Record<string, Handler>;
}
