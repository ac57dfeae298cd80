import { GatewayError } from '../../contract/errors.ts';
import type { RerankRequest } from './rerank-request.ts';

type Json = Record<string, unknown>;
interface Result {
  readonly index: number;
  readonly relevance_score: number;
  /** The score of the engine, where another one is returned. */
  readonly _svc?: { readonly raw_score: number };
}

/**
 * Returns an engine's answer in the one shape of docs/spec/contract.md#rerank: best first, equal scores in
 * the order of the request, at most `topN`, with the caller's own texts when requested. Reads `results`
 * (llama-server, vLLM, Jina, Cohere), `data` (Voyage, mixedbread) and a bare list (TEI), with scores as
 * `relevance_score` or `score`. Scores of an engine with `isRaw` are mapped to 0 to 1 unless all of them are
 * (docs/spec/contract.md#rerank-scores). Throws `upstream.error` (502) for anything else, including an index that
 * was not in the request.
 */
export function rankingOf(
  bytes: Buffer,
  request: RerankRequest,
  model: string | null,
  isRaw = false,
): Buffer {
  const reply = parsed(bytes);
  const root = asObject(reply);
  const list = Array.isArray(reply) ? reply : (root.results ?? root.data);
  const found = readResults(list, request.documents.length);
  const results = (isRaw ? withShares(found) : found)
    .sort((a, b) => rawOf(b) - rawOf(a) || a.index - b.index)
    .slice(0, request.topN)
    .map((result) =>
      request.returnDocuments ? { ...result, document: { text: request.documents[result.index] } } : result,
    );
  const name = typeof root.model === 'string' ? root.model : (model ?? '');
  return Buffer.from(JSON.stringify({ object: 'list', model: name, results, usage: usageOf(root) }));
}

function readResults(list: unknown, count: number): Result[] {
  if (!Array.isArray(list) || list.length === 0) throw unusable();
  const results = list.map((each) => {
    const { index, relevance_score, score, _svc } = asObject(each);
    const { raw_score } = asObject(_svc);
    const raw = typeof raw_score === 'number' ? { _svc: { raw_score } } : {};
    return { index, relevance_score: relevance_score ?? score, ...raw };
  });
  if (new Set(results.map(({ index }) => index)).size !== results.length) throw unusable();
  if (!results.every((each) => isResult(each, count))) throw unusable();
  return results as Result[];
}

/** Two large scores may have the same share. */
const rawOf = ({ _svc, relevance_score }: Result): number => _svc?.raw_score ?? relevance_score;

/** Maps raw scores to 0 to 1 with the logistic function. A head with a softmax reports shares itself. */
function withShares(results: readonly Result[]): Result[] {
  if (results.every(({ relevance_score }) => relevance_score >= 0 && relevance_score <= 1))
    return [...results];
  return results.map(({ index, relevance_score }) => ({
    index,
    relevance_score: 1 / (1 + Math.exp(-relevance_score)),
    _svc: { raw_score: relevance_score },
  }));
}

const isResult = ({ index, relevance_score }: { index: unknown; relevance_score: unknown }, count: number) =>
  Number.isSafeInteger(index) &&
  (index as number) >= 0 &&
  (index as number) < count &&
  typeof relevance_score === 'number';

/** Returns the token counts under any known name; 0 when missing. */
function usageOf(root: Json): Json {
  const usage = asObject(root.usage);
  const meta = asObject(asObject(root.meta).tokens);
  const prompt = count(usage.prompt_tokens) ?? count(usage.total_tokens) ?? count(meta.input_tokens) ?? 0;
  return { prompt_tokens: prompt, total_tokens: count(usage.total_tokens) ?? prompt };
}

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw unusable();
  }
}

const unusable = () =>
  new GatewayError('upstream.error', {
    message: 'The engine or upstream did not return a ranking of the documents.',
    details: { upstream_status: 200 },
  });
