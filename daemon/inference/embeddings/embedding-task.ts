import { engineOf } from '../../slots/engines/table.ts';
import type {
  CallContext,
  Connection,
  InferenceCall,
  ParsedRequest,
  PreparedRequest,
} from '../call-context.ts';
import { invalidField } from '../dialects/read-body.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import {
  type BodyIndex,
  EMBEDDING_NAMES,
  type Field,
  fieldOf,
  modelOf,
  scanBody,
} from '../rewrite/body-index.ts';
import { rewriteModel } from '../rewrite/deviations.ts';
import { type Edit, remove, render } from '../rewrite/edits.ts';
import { setModel } from '../rewrite/model-value.ts';
import { slotView } from '../slot-view.ts';
import { TransformedResponse } from '../transform-response.ts';
import { type EmbeddingRequest, parseEmbeddingRequest } from './embedding-request.ts';
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
  const engine = engineOf(slotView(deps.slots, target.slot)?.engine ?? '');
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
  if (maker.textOnly && request.tokens) throw invalidField('input', 'this engine accepts text, not tokens');
  const { optionSupport } = ctx.deps;
  const hasEncoding = !maker.exact && (fieldOf(index, 'encoding_format')?.kind ?? 'null') !== 'null';
  const sendsEncoding = ({ origin }: Pick<Connection, 'origin'>, model: string | null): boolean =>
    hasEncoding && !optionSupport.isRefused('encoding_format', origin, model);
  return {
    body: (target, model) =>
      bodyWithout(
        index,
        { dimensions: cut, encoding: !maker.exact && !sendsEncoding(target, model) },
        setModel(index, requested, model),
      ),
    refusable: (target, model) => (sendsEncoding(target, model) ? 'encoding_format' : undefined),
    sink: ({ model }) => sinkFor(ctx, { ...request, cut }, model),
  };
}

/**
 * Returns the body without options that are null, which not every server reads as absent, and without the
 * named ones: `dimensions` to get full-length vectors, `encoding` to get numbers.
 */
function bodyWithout(
  index: BodyIndex,
  omitted: { dimensions: boolean; encoding: boolean },
  more: readonly Edit[],
) {
  const last = new Map(index.fields.map((field) => [field.name, field]));
  const isOmitted = ({ name, kind }: Field): boolean =>
    (name === 'dimensions' && (omitted.dimensions || kind === 'null')) ||
    (name === 'encoding_format' && (omitted.encoding || kind === 'null'));
  const dropped = index.fields.filter((field) => last.get(field.name) !== field || isOmitted(field));
  return render(index, [...dropped.map((field) => remove('fields', field)), ...more]);
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
