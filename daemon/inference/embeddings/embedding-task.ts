import { engineOf } from '../../slots/engines/table.ts';
import type { Walk } from '../call.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import { type BodyPicture, IN_EMBEDDINGS, modelOf, scanBody } from '../rewrite/body-index.ts';
import { rewriteModel } from '../rewrite/deviations.ts';
import { remove, render } from '../rewrite/edits.ts';
import { modelValue } from '../rewrite/model-value.ts';
import type { InferenceCall } from '../serve.ts';
import type { Prepared, Reading } from '../tasks.ts';
import { RemadeAnswer } from '../transform-response.ts';
import { type EmbeddingAsk, embeddingAsk, wrong } from './embedding-ask.ts';
import { formFits, remadeEmbeddings } from './vectors.ts';

interface EmbeddingReading extends Reading {
  readonly picture: BodyPicture;
}

/** Embeddings: the model is read at once, everything else when it is known who serves it. */
export function readEmbeddings({ body }: InferenceCall): EmbeddingReading {
  const picture = scanBody(body, IN_EMBEDDINGS);
  const asked = modelOf(picture);
  return {
    model: asked,
    stream: false,
    omni: false,
    picture,
    body: (_, model) => rewriteModel(picture, asked, model),
  };
}

/** What is known of who makes the vectors. */
interface Maker {
  /** Its answers are right as they are. */
  readonly exact: boolean;
  readonly textOnly: boolean;
  /** Shorter vectors that its model was trained for. */
  readonly lengths: readonly number[];
}

const SOMEBODY: Maker = { exact: false, textOnly: false, lengths: [] };

function makerOf({ deps }: Walk, { target }: Decision): Maker {
  if (target.kind !== 'slot') return SOMEBODY;
  const engine = engineOf(deps.slots.get(target.slot)?.engine ?? '');
  const lengths = deps.slots.config(target.slot)?.dimensions ?? [];
  return { exact: engine?.exact ?? false, textOnly: engine?.textOnly ?? false, lengths };
}

/**
 * Decides, before anything is loaded, which work the gateway does itself (docs/spec/contract.md#embeddings):
 * it cuts vectors of a declared length from whole ones and converts the answers of other engines to one
 * shape.
 */
export async function prepareEmbeddings(on: Walk, reading: Reading, decision: Decision): Promise<Prepared> {
  const { picture, model: asked, body } = reading as EmbeddingReading;
  const maker = makerOf(on, decision);
  const untouched = { body, sink: () => null };
  if (maker.exact && maker.lengths.length === 0) return untouched;
  const ask = embeddingAsk(picture);
  const cut = ask.dimensions !== null && maker.lengths.includes(ask.dimensions);
  if (maker.exact && !cut) return untouched;
  if (maker.textOnly && ask.tokens) throw wrong('input', 'this engine takes texts, not tokens');
  return {
    body: cut ? (_, model) => wholeVectors(picture, asked, model) : body,
    sink: ({ model }) => sinkFor(on, { ...ask, cut }, model),
  };
}

/** The body without `dimensions`: the whole vector is asked for. */
function wholeVectors(picture: BodyPicture, asked: string | null, model: string | null) {
  const last = new Map(picture.fields.map((field) => [field.name, field]));
  const dropped = picture.fields.filter(
    (field) => field.name === 'dimensions' || last.get(field.name) !== field,
  );
  return render(picture, [
    ...dropped.map((field) => remove('fields', field)),
    ...modelValue(picture, asked, model),
  ]);
}

function sinkFor({ answer, life }: Walk, wanted: EmbeddingAsk & { cut: boolean }, model: string | null) {
  return new RemadeAnswer({
    answer,
    life,
    remake: (bytes) => remadeEmbeddings(bytes, wanted, model),
    passes: (head) => wanted.dimensions === null && formFits(head, wanted.format),
  });
}
