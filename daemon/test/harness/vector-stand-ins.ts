import { json, type ReceivedRequest } from './stand-in.ts';

/** STAND-INS for embedding and rerank servers, with the formats that these publish. */

const EMBEDDINGS = '/v1/embeddings';
const RERANK = '/v1/rerank';
const SCORE = '/v1/score';

/** The request fields that the stand-ins read. */
export type VectorRequest = {
  model?: string;
  input?: unknown;
  documents?: string[];
  texts?: string[];
  text_1?: string | string[];
  text_2?: string | string[];
  top_n?: number;
};
const inputsOf = ({ input }: VectorRequest) =>
  Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
const isTooLong = (request: VectorRequest) =>
  JSON.stringify(request.input ?? request.documents ?? request.text_2).includes('too long');
const listOf = (...ids: string[]) => json(200, { data: ids.map((id) => ({ id })) });

/** Floats for any requested encoding, in a list without a model. */
const floats = (request: VectorRequest) => ({
  data: inputsOf(request).map((_, index) => ({ index, embedding: [3, 4, 12] })),
  usage: { prompt_tokens: 2 },
});

/** vLLM: floats for any requested encoding, its own error for a text that is too long, documents in every ranking. */
export const VLLM = ({ url, body }: ReceivedRequest) => {
  if (url === '/v1/models') return listOf('big-vectors', 'big-ranks');
  if (url === '/health') return json(200, {});
  // As without VLLM_SERVER_DEV_MODE.
  if (url === '/is_sleeping') return json(404, { detail: 'Not Found' });
  const request = JSON.parse(body) as VectorRequest;
  if (isTooLong(request)) {
    const message =
      "This model's maximum context length is 512 tokens. However, you requested 600 tokens in the input for embedding generation.";
    return json(400, { error: { message, type: 'BadRequestError', param: null, code: 400 } });
  }
  if (url === EMBEDDINGS)
    return json(200, { id: 'embd-1', object: 'list', created: 1, model: request.model, ...floats(request) });
  if (url === SCORE) return json(200, scoresOf(request));
  if (url !== RERANK) return json(404, { detail: 'Not Found' });
  const results = (request.documents ?? []).map((text, index) => ({
    index,
    document: { text },
    relevance_score: index / 10,
  }));
  return json(200, {
    id: 'rerank-1',
    model: request.model,
    usage: { total_tokens: 9 },
    results: results.reverse(),
  });
};

/** The answer of vLLM's `/v1/score`: one score for each text of the longer side. */
const scoresOf = ({ model, text_1, text_2 }: VectorRequest) => ({
  id: 'score-1',
  object: 'list',
  created: 1,
  model,
  data: [text_2 ?? []].flat().map((_, index) => ({ index, object: 'score', score: index / 10 })),
  usage: { prompt_tokens: [text_1].flat().length, total_tokens: 9, completion_tokens: 0 },
});

/** Ray Serve LLM: describes its models in `metadata`, and ranks by scores only. */
export const RAY = ({ url, body }: ReceivedRequest) => {
  if (url === '/v1/models')
    return json(200, { data: [{ id: 'ray-ranks', metadata: { max_request_context_length: 1024 } }] });
  if (url === SCORE) return json(200, scoresOf(JSON.parse(body) as VectorRequest));
  return json(404, { detail: 'Not Found' });
};

/** llama-server: raw rerank scores, no `/v1/score`. */
export const LLAMA = ({ url, body }: ReceivedRequest) => {
  if (url === '/v1/models') return listOf('raw-ranks');
  if (url !== RERANK)
    return json(404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } });
  const { documents } = JSON.parse(body) as VectorRequest;
  const results = (documents ?? []).map((_, index) => ({ index, relevance_score: index * 4 }));
  return json(200, {
    model: 'raw-ranks',
    object: 'list',
    usage: { prompt_tokens: 3, total_tokens: 3 },
    results,
  });
};

/** FastFlowLM: native tags only, no key, errors inside a 200. */
export const FLM = ({ url, body, headers }: ReceivedRequest) => {
  if (url === '/v1/models') return listOf('embed-gemma:300m');
  const request = JSON.parse(body) as VectorRequest;
  if (headers.authorization !== undefined || request.model !== 'embed-gemma:300m' || url !== EMBEDDINGS)
    return json(200, { error: { message: 'not what FastFlowLM takes', type: 'model_error', code: 500 } });
  return json(200, { data: floats(request).data, usage: { prompt_tokens: 0 } });
};

/** Returns the ranking under `data`, as some servers do, and ignores `top_n`. */
export const CUSTOM = ({ url, body }: ReceivedRequest) => {
  if (url === '/health') return json(200, {});
  const request = JSON.parse(body) as VectorRequest;
  if (url === EMBEDDINGS) return json(200, floats(request));
  const data = (request.documents ?? []).map((_, index) => ({ index, score: 1 - index }));
  return json(200, { object: 'list', data });
};

/** TEI: its own field names, a bare list, at most 32 texts. */
export const TEI = ({ url, body }: ReceivedRequest) => {
  if (url.startsWith('/v1/models')) return json(404, {});
  const request = JSON.parse(body) as VectorRequest;
  if (url !== '/rerank') return json(404, {});
  if (request.texts === undefined)
    return json(422, { error: 'missing field `texts`', error_type: 'Validation' });
  if (request.texts.length > 32)
    return json(413, { error: 'batch size 33 > maximum allowed batch size 32', error_type: 'Validation' });
  return json(
    200,
    request.texts.map((_, index) => ({ index, score: index === 1 ? 0.9 : index / 10 })).reverse(),
  );
};

/** A provider: shorter vectors and base64 on request, rankings in the format of Cohere. */
export const CLOUD = ({ url, body }: ReceivedRequest) => {
  if (url.startsWith('/v1/models')) return listOf('far-vectors', 'far-ranks');
  const request = JSON.parse(body) as VectorRequest & { dimensions?: number };
  if (url === EMBEDDINGS) {
    const embedding = Buffer.from(new Float32Array(request.dimensions ?? 4).fill(0.5).buffer).toString(
      'base64',
    );
    return json(200, {
      object: 'list',
      model: request.model,
      data: [{ object: 'embedding', index: 0, embedding }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    });
  }
  if (url === SCORE) return json(404, { detail: 'Not Found' });
  const results = (request.documents ?? []).map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
  return json(200, {
    id: 'x',
    results,
    meta: { billed_units: { search_units: 1 }, tokens: { input_tokens: 12 } },
  });
};
