import type {
  CallContext,
  Connection,
  InferenceCall,
  ParseContext,
  ParsedRequest,
  PreparedRequest,
} from '../call-context.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import { configuredName } from '../dispatch/resolve-name.ts';
import { createRoutingView } from '../dispatch/routing-view.ts';
import { headerText } from '../forward/headers.ts';
import { modelOf, scanBody } from '../rewrite/body-index.ts';
import { type ImageRequest, parseImageHead, parseImageRequest } from './checks.ts';
import { modelMismatch } from './model-mismatch.ts';
import { resolveImageModel } from './resolve-model.ts';

/** A checked image request; dispatch uses `model`. */
export interface ParsedImageRequest extends ParsedRequest {
  readonly request: ImageRequest;
}

const EMPTY = Buffer.alloc(0);

/**
 * Checks a request in the order of docs/spec/contract.md#image-checks: prompt, model, alias, curated set,
 * then everything else.
 */
export function readImage({ body }: InferenceCall, ctx: ParseContext): ParsedImageRequest {
  const index = scanBody(body);
  const names = parseImageHead(JSON.parse(body.toString('utf8')) as Record<string, unknown>);
  // Refuses an overlong name before it is looked up.
  modelOf(index);
  const view = createRoutingView(ctx.deps.sources);
  const alias = configuredName(names.model, view);
  const { curated, model } = resolveImageModel(names.model, view);
  const request = parseImageRequest(names, curated);
  return {
    ...{ model, requestedName: names.model, alias, request },
    ...{ stream: false, omni: false, body: () => EMPTY },
  };
}

/** Refuses, before anything is loaded, a slot whose engine would draw with another model than requested. */
export async function prepareImage(
  ctx: CallContext,
  reading: ParsedRequest,
  { target }: Decision,
): Promise<PreparedRequest> {
  const { drawing } = (reading as ParsedImageRequest).request;
  const slot = target.kind === 'slot' ? ctx.deps.slots.get(target.slot) : undefined;
  const refused = slot === undefined ? null : modelMismatch(drawing.model, slot);
  if (refused !== null) throw refused;
  return { body: reading.body, sink: () => null };
}

/** Draws and sends the images to the caller. */
export async function serveImage(
  ctx: CallContext,
  reading: ParsedRequest,
  connection: Connection,
  { target, step }: Decision,
): Promise<void> {
  const { deps, call, scope, response, tracked } = ctx;
  const { request } = reading as ParsedImageRequest;
  const model = request.drawing.model.id;
  const slot = target.kind === 'slot' ? target.slot : null;
  tracked.routed({ slot, upstream: target.kind === 'slot' ? null : target.upstream, step, model });
  call.res.setHeader('x-svc-model', headerText(model));
  const { origin, base, headers, connectMs, engineModel, onBegin, onData, onDown } = connection;
  const made = await deps.images.generate({
    requestId: call.id,
    request,
    slot,
    provider: target.kind === 'slot' ? target.slot : target.upstream,
    engine: slot === null ? null : (deps.slots.get(slot)?.engine ?? null),
    endpoint: { origin, headers, connectMs, observer: { onBegin, onData } },
    base,
    engineModel,
    scope,
    onDown,
  });
  const bytes = Buffer.from(JSON.stringify(made));
  response.begin(200, { 'content-type': 'application/json', 'content-length': String(bytes.length) });
  response.finish(bytes);
}
