import { type Heard, json } from './stand-in.ts';

/** STAND-INS for servers that make vectors and rankings, in the shapes that those publish. */

const EMBEDDINGS = '/v1/embeddings';
const RERANK = '/v1/rerank';

/** What is asked, as far as the stand-ins look at it. */
export type Asked = {
  model?: string;
  input?: unknown;
  documents?: string[];
  texts?: string[];
  top_n?: number;
};
const inputsOf = ({ input }: Asked) =>
  Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
const isTooLong = (asked: Asked) => JSON.stringify(asked.input ?? asked.documents).includes('too long');
const listOf = (...ids: string[]) => json(200, { data: ids.map((id) => ({ id })) });

/** Floats whatever was asked for, in a list without a model. */
const floats = (asked: Asked) => ({
  data: inputsOf(asked).map((_, index) => ({ index, embedding: [3, 4, 12] })),
  usage: { prompt_tokens: 2 },
});

/** vLLM: vectors in any form it likes, its own words for a text that is too long, documents always in a ranking. */
export const VLLM = ({ url, body }: Heard) => {
  if (url === '/v1/models') return listOf('big-vectors', 'big-ranks');
  if (url === '/health') return json(200, {});
  const asked = JSON.parse(body) as Asked;
  if (isTooLong(asked)) {
    const message =
      "This model's maximum context length is 512 tokens. However, you requested 600 tokens in the input for embedding generation.";
    return json(400, { error: { message, type: 'BadRequestError', param: null, code: 400 } });
  }
  if (url === EMBEDDINGS)
    return json(200, { id: 'embd-1', object: 'list', created: 1, model: asked.model, ...floats(asked) });
  if (url !== RERANK) return json(404, { detail: 'Not Found' });
  const results = (asked.documents ?? []).map((text, index) => ({
    index,
    document: { text },
    relevance_score: index / 10,
  }));
  return json(200, {
    id: 'rerank-1',
    model: asked.model,
    usage: { total_tokens: 9 },
    results: results.reverse(),
  });
};

/** FastFlowLM: native tags only, no key, failures inside a 200. */
export const FLM = ({ url, body, headers }: Heard) => {
  if (url === '/v1/models') return listOf('embed-gemma:300m');
  const asked = JSON.parse(body) as Asked;
  if (headers.authorization !== undefined || asked.model !== 'embed-gemma:300m' || url !== EMBEDDINGS)
    return json(200, { error: { message: 'not what FastFlowLM takes', type: 'model_error', code: 500 } });
  return json(200, { data: floats(asked).data, usage: { prompt_tokens: 0 } });
};

/** Ranks under `data`, as some servers do, and knows nothing of `top_n`. */
export const CUSTOM = ({ url, body }: Heard) => {
  if (url === '/health') return json(200, {});
  const asked = JSON.parse(body) as Asked;
  if (url === EMBEDDINGS) return json(200, floats(asked));
  const data = (asked.documents ?? []).map((_, index) => ({ index, score: 1 - index }));
  return json(200, { object: 'list', data });
};

/** TEI: its own names, a bare list, 32 texts at most. */
export const TEI = ({ url, body }: Heard) => {
  if (url.startsWith('/v1/models')) return json(404, {});
  const asked = JSON.parse(body) as Asked;
  if (url !== '/rerank') return json(404, {});
  if (asked.texts === undefined)
    return json(422, { error: 'missing field `texts`', error_type: 'Validation' });
  if (asked.texts.length > 32)
    return json(413, { error: 'batch size 33 > maximum allowed batch size 32', error_type: 'Validation' });
  return json(
    200,
    asked.texts.map((_, index) => ({ index, score: index === 1 ? 0.9 : index / 10 })).reverse(),
  );
};

/** A provider: shorter vectors and base64 by itself, a ranking as Cohere gives it. */
export const CLOUD = ({ url, body }: Heard) => {
  if (url.startsWith('/v1/models')) return listOf('far-vectors', 'far-ranks');
  const asked = JSON.parse(body) as Asked & { dimensions?: number };
  if (url === EMBEDDINGS) {
    const embedding = Buffer.from(new Float32Array(asked.dimensions ?? 4).fill(0.5).buffer).toString(
      'base64',
    );
    return json(200, {
      object: 'list',
      model: asked.model,
      data: [{ object: 'embedding', index: 0, embedding }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    });
  }
  const results = (asked.documents ?? []).map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
  return json(200, {
    id: 'x',
    results,
    meta: { billed_units: { search_units: 1 }, tokens: { input_tokens: 12 } },
  });
};
