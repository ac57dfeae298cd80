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
import { createRoutingView, type RoutingView } from '../dispatch/routing-view.ts';
import { encodeName } from '../forward/headers.ts';
import { fieldOf, modelOf, scanBody } from '../rewrite/body-index.ts';
import { render, replace } from '../rewrite/edits.ts';
import {
  type ImageRequest,
  type ImageRequestHead,
  parseImageHead,
  parseImageRequest,
  wantedCount,
  wantedOutput,
} from './checks.ts';
import { ImageEvents } from './image-events.ts';
import { modelMismatch } from './model-mismatch.ts';
import { isForwarded } from './own-model.ts';
import { notCurated, type ResolvedModel, resolveImageModel } from './resolve-model.ts';

/** A checked image request; dispatch uses `model`. */
export interface ParsedImageRequest extends ParsedRequest {
  readonly head: ImageRequestHead;
  /** Null for a request that is forwarded as it came. */
  readonly request: ImageRequest | null;
}

const EMPTY = Buffer.alloc(0);

/** Returns the name of the only slot for images; null when there is none, or a choice. */
function onlyImageSlot({ slots }: RoutingView): string | null {
  const [first, second] = slots.filter(({ type }) => type === 'image');
  return second === undefined ? (first?.name ?? null) : null;
}

/**
 * Checks a request in the order of docs/spec/contract.md#image-checks: prompt, model, alias, curated set,
 * then everything else. A request that is forwarded is checked by its receiver.
 */
export async function readImage(
  { body }: InferenceCall,
  { deps, scope }: ParseContext,
): Promise<ParsedImageRequest> {
  const index = scanBody(body);
  const fields = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  const head = parseImageHead(fields, () => onlyImageSlot(createRoutingView(deps.sources)));
  // Refuses an overlong name before it is looked up.
  modelOf(index);
  const alias = configuredName(head.model, createRoutingView(deps.sources));
  const resolved = (): ResolvedModel =>
    resolveImageModel(head.model, createRoutingView(deps.sources), deps.availableModels);
  let { image, model, unknownAt } = resolved();
  if (unknownAt !== undefined) {
    await deps.availableModels.discover(unknownAt, scope.signal);
    ({ image, model } = resolved());
  }
  const request = image === null ? null : parseImageRequest(head, image);
  return {
    ...{ model, requestedName: head.model, alias, head, request },
    ...{ stream: head.stream !== null, omni: false, body: () => EMPTY },
  };
}

/** Refuses, before anything is loaded, a slot whose engine would draw with another model than requested. */
export async function prepareImage(
  ctx: CallContext,
  reading: ParsedRequest,
  { target }: Decision,
): Promise<PreparedRequest> {
  const { request } = reading as ParsedImageRequest;
  const slot = target.kind === 'slot' ? ctx.deps.slots.get(target.slot) : undefined;
  if (slot !== undefined && request !== null) {
    const settings = ctx.deps.slots.config(slot.name)?.imageSettings;
    const refused = modelMismatch(request.drawing.model, { ...slot, imageSettings: settings });
    if (refused !== null) throw refused;
  }
  if (slot !== undefined && request === null && !isForwarded(slot))
    throw notCurated(createRoutingView(ctx.deps.sources), ctx.deps.availableModels);
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
  const { request, head, model: named } = reading as ParsedImageRequest;
  const slot = target.kind === 'slot' ? target.slot : null;
  const engine = slot === null ? null : (deps.slots.get(slot)?.engine ?? null);
  const { origin, base, headers, connectMs, engineModel, onBegin, onData, onDown, releaseAfter } = connection;
  const model =
    request !== null && slot !== null ? request.drawing.model.id : (connection.model ?? named ?? head.model);
  // The events of a stream contain the images.
  const form = head.stream === null ? head.form : 'b64_json';
  const sent =
    request !== null && slot !== null
      ? { ...request, form }
      : {
          ...{ model, form, output: wantedOutput(head.body), count: wantedCount(head.body) },
          body: forwardedBody(head, call.body, engineModel),
        };
  tracked.routed({ slot, upstream: target.kind === 'slot' ? null : target.upstream, step, model });
  call.res.setHeader('x-svc-model', encodeName(model));
  const events = head.stream === null ? null : new ImageEvents(response, head.stream);
  if (events !== null) response.startKeepAlive(call.receivedAt);
  const made = await deps.images.generate({
    requestId: call.id,
    request: sent,
    slot,
    provider: target.kind === 'slot' ? target.slot : target.upstream,
    engine,
    endpoint: { origin, headers, connectMs, observer: { onBegin, onData } },
    base,
    scope,
    onDown,
    onUnstoppable: releaseAfter,
    onPreview: events?.onPreview,
  });
  if (events !== null) {
    events.complete(made);
    return;
  }
  const bytes = Buffer.from(JSON.stringify(made));
  response.begin(200, { 'content-type': 'application/json', 'content-length': String(bytes.length) });
  response.finish(bytes);
}

/**
 * Returns the body with the target's name for the model. All other bytes stay as they are, unless the caller wants a
 * stream: the target gets the same request without one.
 */
function forwardedBody({ body }: ImageRequestHead, bytes: Buffer, engineModel: string | null): Buffer {
  if (body.stream === true) {
    const { stream: _, partial_images: __, ...rest } = body;
    return Buffer.from(JSON.stringify({ ...rest, model: engineModel ?? rest.model }));
  }
  const index = scanBody(bytes);
  const named = fieldOf(index, 'model');
  if (engineModel === null || named === undefined) return bytes;
  const rendered = render(index, [replace(named.value, JSON.stringify(engineModel))]);
  return Buffer.isBuffer(rendered) ? rendered : Buffer.concat(rendered);
}
