import { GatewayError } from '../../contract/errors.ts';
import { resolve } from '../dispatch/dispatch.ts';
import { modelOmitted } from '../dispatch/model-omitted.ts';
import { plainAddress } from '../dispatch/model-ref.ts';
import { pathRow } from '../dispatch/paths.ts';
import type { Target } from '../dispatch/resolver.ts';
import { modelNamed, type Picture, slotNamed } from '../dispatch/routing-view.ts';
import { rewriteAddress } from '../rewrite/deviations.ts';
import { sees } from '../supports-vision.ts';

const CHAT = '/v1/chat/completions';

/** Whether the model that a chat under this name goes to sees pictures itself; false where nobody knows. Pure. */
export function askedSees(asked: string | null, picture: Picture): boolean {
  const target = targetOf(asked, picture);
  if (target === null) return false;
  const model = target.model === null ? undefined : modelNamed(picture, target.model);
  if (target.kind === 'slot') return sees(model, slotNamed(picture, target.slot));
  const listed = picture.upstreams
    .find(({ name }) => name === target.upstream)
    ?.models.find(({ id }) => id === target.model);
  return listed?.vision === true || sees(model, undefined);
}

/** Who would serve it now; null when nobody would, which the chat itself says. */
function targetOf(asked: string | null, picture: Picture): Target | null {
  const { type } = pathRow(CHAT);
  try {
    const address = rewriteAddress(modelOmitted(plainAddress(asked), CHAT, picture), picture, type);
    return resolve({ path: CHAT, type, address }, picture).target;
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}
