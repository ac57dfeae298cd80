import { GatewayError } from '../../contract/errors.ts';
import { resolve } from '../dispatch/dispatch.ts';
import { modelOmitted } from '../dispatch/model-omitted.ts';
import { plainModelRef } from '../dispatch/model-ref.ts';
import { pathRow } from '../dispatch/paths.ts';
import type { Target } from '../dispatch/resolver.ts';
import { modelNamed, type RoutingView, slotNamed } from '../dispatch/routing-view.ts';
import { rewriteModelRef } from '../rewrite/deviations.ts';
import { supportsVision } from '../supports-vision.ts';

const CHAT = '/v1/chat/completions';

/** Returns whether the model that serves a chat with this name accepts images; false when unknown. Pure. */
export function targetSupportsVision(requested: string | null, view: RoutingView): boolean {
  const target = targetOf(requested, view);
  if (target === null) return false;
  const model = target.model === null ? undefined : modelNamed(view, target.model);
  if (target.kind === 'slot') return supportsVision(model, slotNamed(view, target.slot));
  const listed = view.upstreams
    .find(({ name }) => name === target.upstream)
    ?.models.find(({ id }) => id === target.model);
  return listed?.vision === true || supportsVision(model, undefined);
}

/** Returns the target that would serve it now; null when none would, which the chat itself reports. */
function targetOf(requested: string | null, view: RoutingView): Target | null {
  const { type } = pathRow(CHAT);
  try {
    const address = rewriteModelRef(modelOmitted(plainModelRef(requested), CHAT, view), view, type);
    return resolve({ path: CHAT, type, modelRef: address }, view).target;
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}
