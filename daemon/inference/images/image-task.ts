import type { Walk } from '../call.ts';
import type { Connection } from '../connect.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import { takePicture } from '../dispatch/routing-view.ts';
import { headerText } from '../forward/headers.ts';
import { modelOf, scanBody } from '../rewrite/body-index.ts';
import type { InferenceCall } from '../serve.ts';
import type { Prepared, Reading, ReadOn } from '../tasks.ts';
import { type ImageAsk, imageAsk, imageNames } from './checks.ts';
import { otherModel } from './other-model.ts';
import { meaning } from './resolve-model.ts';

/** An image request, checked; `model` is what dispatch looks for. */
export interface ImageReading extends Reading {
  readonly ask: ImageAsk;
}

const EMPTY = Buffer.alloc(0);

/**
 * Checks a request in the order of docs/spec/contract.md#image-checks: prompt, model, alias, curated set,
 * then everything else.
 */
export function readImage({ body }: InferenceCall, on: ReadOn): ImageReading {
  const picture = scanBody(body);
  const names = imageNames(JSON.parse(body.toString('utf8')) as Record<string, unknown>);
  // Whatever is longer than a name is refused before it is looked for.
  modelOf(picture);
  const { curated, model } = meaning(names.model, takePicture(on.deps.sources));
  const ask = imageAsk(names, curated);
  return { model, asked: names.model, ask, stream: false, omni: false, body: () => EMPTY };
}

/** Refuses, before anything is loaded, a slot whose engine would draw with another model than the one that was named. */
export async function prepareImage(on: Walk, reading: Reading, { target }: Decision): Promise<Prepared> {
  const { drawing } = (reading as ImageReading).ask;
  const slot = target.kind === 'slot' ? on.deps.slots.get(target.slot) : undefined;
  const refused = slot === undefined ? null : otherModel(drawing.model, slot);
  if (refused !== null) throw refused;
  return { body: reading.body, sink: () => null };
}

/** Draws, and answers the caller with what was drawn. */
export async function serveImage(
  on: Walk,
  reading: Reading,
  connection: Connection,
  { target, step }: Decision,
): Promise<void> {
  const { deps, call, life, answer, track } = on;
  const { ask } = reading as ImageReading;
  const model = ask.drawing.model.id;
  const slot = target.kind === 'slot' ? target.slot : null;
  track.routed({ slot, upstream: target.kind === 'slot' ? null : target.upstream, step, model });
  call.res.setHeader('x-svc-model', headerText(model));
  const { origin, base, headers, connectMs, engineModel } = connection;
  const made = await deps.images.make({
    requestId: call.id,
    ask,
    slot,
    provider: target.kind === 'slot' ? target.slot : target.upstream,
    engine: slot === null ? null : (deps.slots.get(slot)?.engine ?? null),
    place: { origin, headers, connectMs },
    base,
    engineModel,
    life,
  });
  const bytes = Buffer.from(JSON.stringify(made));
  answer.begin(200, { 'content-type': 'application/json', 'content-length': String(bytes.length) });
  answer.finish(bytes);
}
