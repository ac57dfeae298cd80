import type { RouteDeps } from '../deps.ts';
import type { LegacyHandler as Handler } from '../handler.ts';

/** Speech models and their voices. Loads nothing. */
export function audioRoutes(deps: RouteDeps) {
  const voices: Handler = (_ctx, call) =>
    deps.inference.voices(new URLSearchParams(call.target.query).get('model'));
  const models: Handler = () => deps.inference.speakers();
  return { 'v1.audio.voices': voices, 'v1.audio.models': models } satisfies Record<string, Handler>;
}
