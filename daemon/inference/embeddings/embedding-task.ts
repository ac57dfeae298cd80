import { engineOf } from '../../slots/engines/table.ts';
import type { CallContext, InferenceCall, ParsedRequest, PreparedRequest } from '../call-context.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import { type BodyIndex, EMBEDDING_NAMES, modelOf, scanBody } from '../rewrite/body-index.ts';
import { rewriteModel } from '../rewrite/deviations.ts';
import { remove, render } from '../rewrite/edits.ts';
import { setModel } from '../rewrite/model-value.ts';
import { TransformedResponse } from '../transform-response.ts';
import { type EmbeddingRequest, invalidEmbedding, parseEmbeddingRequest } from './embedding-request.ts';
import { ResponseOutline } from './response-outline.ts';
import { transformEmbeddings } from './vectors.ts';

interface ParsedEmbeddingRequest extends ParsedRequest {
  readonly index: BodyIndex;
}

/** Parses embeddings: the model immediately, everything else when the target is known. */
export function readEmbeddings({ body }: InferenceCall): ParsedEmbeddingRequest {
  const index = scanBody(body, EMBEDDING_NAMES);
  const requested = modelOf(index);
  return {
    model: requested,
    stream: false,
    omni: false,
    index,
    body: (_, model) => rewriteModel(index, requested, model),
  };
}

/** What is known about the engine. */
interface EmbedderTraits {
  /** Its responses need no conversion. */
  readonly exact: boolean;
  readonly textOnly: boolean;
  /** Shorter vector lengths that its model was trained for. */
  readonly lengths: readonly number[];
}

const UNKNOWN_ENGINE: EmbedderTraits = { exact: false, textOnly: false, lengths: [] };

function traitsOf({ deps }: CallContext, { target }: Decision): EmbedderTraits {
  if (target.kind !== 'slot') return UNKNOWN_ENGINE;
  const engine = engineOf(deps.slots.get(target.slot)?.engine ?? '');
  const lengths = deps.slots.config(target.slot)?.dimensions ?? [];
  return { exact: engine?.exact ?? false, textOnly: engine?.textOnly ?? false, lengths };
}

/**
 * Decides, before anything is loaded, which work the gateway does itself (docs/spec/contract.md#embeddings):
 * it truncates vectors to a declared length and converts the responses of other engines to one shape.
 */
export async function prepareEmbeddings(
  ctx: CallContext,
  reading: ParsedRequest,
  decision: Decision,
): Promise<PreparedRequest> {
  const { index, model: requested, body } = reading as ParsedEmbeddingRequest;
  const maker = traitsOf(ctx, decision);
  const untouched = { body, sink: () => null };
  if (maker.exact && maker.lengths.length === 0) return untouched;
  const request = parseEmbeddingRequest(index);
  const cut = request.dimensions !== null && maker.lengths.includes(request.dimensions);
  if (maker.exact && !cut) return untouched;
  if (maker.textOnly && request.tokens)
    throw invalidEmbedding('input', 'this engine accepts text, not tokens');
  return {
    body: cut ? (_, model) => wholeVectors(index, requested, model) : body,
    sink: ({ model }) => sinkFor(ctx, { ...request, cut }, model),
  };
}

/** Returns the body without `dimensions`, to get full-length vectors. */
function wholeVectors(index: BodyIndex, requested: string | null, model: string | null) {
  const last = new Map(index.fields.map((field) => [field.name, field]));
  const dropped = index.fields.filter(
    (field) => field.name === 'dimensions' || last.get(field.name) !== field,
  );
  return render(index, [
    ...dropped.map((field) => remove('fields', field)),
    ...setModel(index, requested, model),
  ]);
}

function sinkFor(
  { response, scope }: CallContext,
  wanted: EmbeddingRequest & { cut: boolean },
  model: string | null,
) {
  return new TransformedResponse({
    response,
    scope,
    transform: (bytes) => transformEmbeddings(bytes, wanted, model),
    // Checking the lengths of the vectors would read them.
    check: wanted.dimensions === null ? new ResponseOutline(wanted) : undefined,
  });
}
