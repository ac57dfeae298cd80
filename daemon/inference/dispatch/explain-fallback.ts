import type { GatewayError } from '../../contract/errors.ts';
import type { ExplainView } from '../../contract/system.ts';
import type { ModelMap } from '../../settings/model-map.ts';
import type { Preview } from '../../slots/admission/preview.ts';
import type { Decision } from './dispatch.ts';
import { fallbackCandidates, fallbackModels, permitsFallback } from './model-fallbacks.ts';
import { pathRow } from './paths.ts';
import type { DispatchRequest } from './resolver.ts';
import type { RoutingView } from './routing-view.ts';

type FallbackView = NonNullable<ExplainView['fallback']>;

/** A request whose requested model is explained. */
export interface ExplainedRequest {
  readonly request: DispatchRequest;
  /** The id of the requested model. */
  readonly id: string | null;
  /** The error of the requested model; null when it would be served. */
  readonly refused: GatewayError | null;
  readonly view: RoutingView;
  /** As the header of the request; undefined for one without. */
  readonly allow: boolean | undefined;
  readonly map: ModelMap;
  readonly isEnabled: boolean;
}

/**
 * Explains the fallbacks of a request (docs/spec/contract.md#fallbacks); null when its model has none. `previewOf`
 * returns what a request for their target would lead to now.
 */
export function explainFallback(
  { request, id, refused, view, allow, map, isEnabled }: ExplainedRequest,
  previewOf: (decision: Decision) => Preview,
): FallbackView | null {
  const { requested, alias } = request.modelRef;
  const models = fallbackModels(map, [alias?.name ?? null, requested, id]);
  if (models.length === 0) return null;
  const explained = fallbackCandidates(models, request, view).map(({ model, decision, refused: own }) => {
    const { load, refusal } =
      decision === null || own !== null ? { load: null, refusal: own } : previewOf(decision);
    const target = decision?.target;
    return {
      model,
      slot: target?.kind === 'slot' ? target.slot : null,
      upstream: target?.kind === 'upstream' ? target.upstream : null,
      load,
      error: refusal && errorView(refusal),
    };
  });
  const off = offReason(request, allow ?? isEnabled);
  const isUsed = off === null && permitsFallback(refused);
  const used = isUsed ? (explained.find(({ error }) => error === null)?.model ?? null) : null;
  return { off, used, models: explained };
}

function offReason({ path }: DispatchRequest, isAllowed: boolean): FallbackView['off'] {
  if (!pathRow(path).permitsFallback) return 'route';
  return isAllowed ? null : 'not_allowed';
}

/** Returns an error as explanations show it. */
export const errorView = ({ code, message, options: { details } }: GatewayError) => ({
  code,
  message,
  ...(details === undefined ? {} : { details }),
});
