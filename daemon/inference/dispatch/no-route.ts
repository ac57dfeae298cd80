import { GatewayError } from '../../contract/errors.ts';
import { suggestions } from '../../lib/text/suggestions.ts';
import { truncate } from '../../lib/text/truncate.ts';
import { unservedFormat } from '../../models/unusable-formats.ts';
import { disabledMessage } from '../../slots/refusals.ts';
import { knownNames, LEGACY_ALIAS, VIRTUAL_PREFIX } from './names.ts';
import { modelNamed, type RoutingView } from './routing-view.ts';

/** Maximum characters of an unknown name that are repeated to the caller. */
export const MAX_ECHO = 120;

/** What a request for an image gets where nothing draws (docs/spec/contract.md#curated). */
export const NO_IMAGE_ENGINE =
  'No image engine is configured. Add a slot of type image, such as ComfyUI or stable-diffusion.cpp, or an upstream with an image model: see "Image generation" in docs/guide/engines.md.';

/** Returns what an image request gets on a gateway without enabled image slots. */
export function noImageEngineMessage({ disabledSlots }: RoutingView): string {
  const slot = disabledSlots.find(({ type }) => type === 'image');
  return slot === undefined ? NO_IMAGE_ENGINE : disabledMessage(slot.name);
}

/** Returns 404 `dispatch.no_route` for an image request on a gateway without enabled image slots. */
export const noImageEngine = (view: RoutingView): GatewayError =>
  new GatewayError('dispatch.no_route', {
    message: noImageEngineMessage(view),
    param: 'model',
    details: { suggestions: [] },
  });

/**
 * Returns 404 `dispatch.no_route` with similar names (docs/spec/contract.md#no-route). `why` replaces the general
 * text.
 */
export function noRoute(requested: string | null, view: RoutingView, why?: string): GatewayError {
  const message =
    why ??
    (requested === null
      ? 'No model was given and there is no default slot for this endpoint.'
      : (disabledReason(requested, view) ?? unservedMessage(requested, view)));
  return new GatewayError('dispatch.no_route', {
    message,
    param: 'model',
    details: { suggestions: requested === null ? [] : similarNames(requested, view) },
  });
}

/** Returns that nothing serves this name, with the reason or similar names. */
export function unservedMessage(requested: string, view: RoutingView): string {
  const reason = unservedReason(requested, view) ?? `. ${nextStep(similarNames(requested, view))}`;
  return `No slot or upstream serves the model "${truncate(requested, MAX_ECHO)}"${reason}`;
}

const similarNames = (requested: string, view: RoutingView): string[] =>
  suggestions(requested, knownNames(view)).filter((name) => name !== requested);

/** Returns that the slot of this name, or the one that holds this model, is disabled; null when there is none. */
export function disabledReason(requested: string, { disabledSlots }: RoutingView): string | null {
  const short = requested.startsWith(VIRTUAL_PREFIX) ? requested.slice(VIRTUAL_PREFIX.length) : requested;
  const name = short === LEGACY_ALIAS ? 'agent' : short;
  const slot =
    disabledSlots.find((each) => each.name === name) ??
    disabledSlots.find(({ model }) => model === requested);
  return slot === undefined ? null : disabledMessage(slot.name);
}

/** Returns why no slot serves a registered model, with the next step, as the end of a sentence. */
function unservedReason(id: string, view: RoutingView): string | null {
  const model = modelNamed(view, id);
  const found = model === undefined ? null : unservedFormat(model);
  return found === null ? null : `: ${found.reason}. ${found.advice}`;
}

const nextStep = (similar: readonly string[]): string =>
  similar.length === 0
    ? 'GET /v1/models lists the models.'
    : `Did you mean ${similar.slice(0, 3).join(' or ')}?`;
