import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

/** Speech models and their voices. Loads nothing. */
export function audioRoutes(deps: RouteDeps) {
  const voices: Handler = async (ctx) => {
    ctx.body = await deps.inference.voices(new URLSearchParams(ctx.querystring).get('model'));
  };
  const models: Handler = async (ctx) => {
    ctx.body = await deps.inference.speakers();
  };
  return { 'v1.audio.voices': voices, 'v1.audio.models': models } satisfies Record<string, Handler>;
}
