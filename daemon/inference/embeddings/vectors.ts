import { GatewayError } from '../../contract/errors.ts';
import { normalised, toBase64, toNumbers } from '../../slots/workers/llama/embedding-vector.ts';
import { invalidField } from '../dialects/read-body.ts';
import type { EmbeddingRequest } from './embedding-request.ts';

export interface VectorOptions extends Pick<EmbeddingRequest, 'format' | 'dimensions' | 'count'> {
  /** The gateway truncates vectors: the model was trained for that length. */
  readonly cut: boolean;
}

type Json = Record<string, unknown>;
type Embedding = { readonly index: number; readonly embedding: unknown };

/**
 * Converts an engine's response to OpenAI's list: one vector per input in their order, in the requested
 * format and length, with `model` and counts. Throws `request.invalid` (422, `dimensions`) for vectors of
 * another length, and `upstream.error` (502) for anything that is not a list of vectors.
 */
export function transformEmbeddings(bytes: Buffer, wanted: VectorOptions, model: string | null): Buffer {
  const { data, model: reported, usage, ...others } = parsed(bytes);
  const rows = sortedByIndex(data, wanted.count);
  return Buffer.from(
    JSON.stringify({
      ...others,
      object: 'list',
      data: rows.map(({ embedding }, index) => ({
        object: 'embedding',
        index,
        embedding: convertVector(embedding, wanted),
      })),
      model: typeof reported === 'string' ? reported : (model ?? ''),
      usage: counts(usage),
    }),
  );
}

function parsed(bytes: Buffer): Json {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  } catch {}
  throw unusable();
}

/** Returns the vectors in the order of the inputs: by index if all have one, else as listed. */
function sortedByIndex(data: unknown, count: number): Embedding[] {
  if (!Array.isArray(data) || data.length !== count) throw unusable();
  const rows = data.map((each: Json | null, at) => ({
    index: each?.index ?? at,
    embedding: each?.embedding,
  }));
  if (new Set(rows.map(({ index }) => index)).size !== count) throw unusable();
  if (!rows.every(({ index }) => Number.isSafeInteger(index))) throw unusable();
  return (rows as Embedding[]).sort((a, b) => a.index - b.index);
}

function convertVector(embedding: unknown, { format, dimensions, cut }: VectorOptions): string | number[] {
  const coded = typeof embedding === 'string';
  if (!cut && (format === 'base64') === coded && dimensions === null) return unchanged(embedding);
  const vector = coded ? decoded(embedding) : floats(embedding);
  const right = cut && dimensions !== null ? shortened(vector, dimensions) : vector;
  if (dimensions !== null && right.length !== dimensions) throw otherLength(right.length, dimensions);
  if (right === vector && (format === 'base64') === coded) return unchanged(embedding);
  return format === 'base64' ? toBase64(right) : toNumbers(right);
}

function unchanged(embedding: unknown): string | number[] {
  if (typeof embedding === 'string' && embedding !== '') return embedding;
  if (Array.isArray(embedding) && typeof embedding[0] === 'number') return embedding as number[];
  throw unusable();
}

function floats(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0) throw unusable();
  if (!embedding.every((value) => typeof value === 'number')) throw unusable();
  return Float32Array.from(embedding as number[]);
}

const FLOAT_BYTES = 4;

function decoded(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) throw unusable();
  return Float32Array.from({ length: bytes.length / FLOAT_BYTES }, (_, at) =>
    bytes.readFloatLE(at * FLOAT_BYTES),
  );
}

/** Truncates a vector and normalises it to length 1; returns it unchanged when it is not longer. */
function shortened(vector: Float32Array, length: number): Float32Array {
  return vector.length <= length ? vector : normalised([...vector.subarray(0, length)]);
}

function counts(usage: unknown): Json {
  const reported = (typeof usage === 'object' && usage !== null ? usage : {}) as Json;
  const prompt = Number(reported.prompt_tokens ?? reported.total_tokens ?? 0);
  return { ...reported, prompt_tokens: prompt, total_tokens: Number(reported.total_tokens ?? prompt) };
}

const otherLength = (own: number, requested: number) =>
  invalidField('dimensions', `this model supports ${own} only, not ${requested}`);

const unusable = () =>
  new GatewayError('upstream.error', {
    message: 'The engine or upstream did not return one vector per input.',
    details: { upstream_status: 200 },
  });
