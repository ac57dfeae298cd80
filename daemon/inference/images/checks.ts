import { GatewayError } from '../../contract/errors.ts';
import { type BodyPicture, invalid, modelOf } from '../rewrite/body-picture.ts';

/**
 * The checks of `POST /v1/images/generations` in the order of contract section 9: prompt, model, curated set. No image
 * model is curated while no image engine is part of the gateway, so the last check refuses every model by its name.
 */
export function refuseImage(picture: BodyPicture): never {
  const { prompt } = JSON.parse(picture.bytes.toString('utf8')) as { prompt?: unknown };
  if (prompt === undefined || prompt === null || (typeof prompt === 'string' && prompt.trim() === '')) {
    throw new GatewayError('image.prompt_required', { param: 'prompt' });
  }
  if (typeof prompt !== 'string') throw invalid('prompt', 'must be a string');
  if (modelOf(picture) === null) throw invalid('model', 'is required');
  throw new GatewayError('image.model_not_curated', { param: 'model' });
}
