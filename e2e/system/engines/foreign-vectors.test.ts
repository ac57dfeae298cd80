/** Embeddings and rerank through /v1 on a real llama-server with tiny models, with the official OpenAI client. */
import type OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { tinyEmbed } from '../../../daemon/models/testing/gguf/tiny-embed.ts';
import { tinyRerank } from '../../../daemon/models/testing/gguf/tiny-rerank.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openaiClient } from '../../../daemon/test/harness/openai.ts';
import { expectRanking } from '../../../daemon/test/harness/ranking.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';

const EMBEDDINGS = '/v1/embeddings';
const RERANK = '/v1/rerank';
const CAT = 'the cat sat on the mat';
const DOCUMENTS = ['quantum flux xylophone', CAT, 'a dog barks'];
const program = part('llama-server');

let openai: OpenAI;

const slotFile = (type: string, model: string, more = '') =>
  `engine = "llama-server"\ntype = "${type}"\nmodel = "${model}"\ndevice = "cpu"\ncontext = 256\nparallel = 1\ncommand = ["${program}"]\n${more}`;

const gateway = new OneGateway(() =>
  startGateway({
    models: { vectors: tinyEmbed({ size: 64 }), ranks: tinyRerank() },
    files: {
      'config/slots/agent.toml': 'autoload = false\n',
      'config/slots/llama.toml': slotFile('embedding', 'vectors', 'dimensions = [16]\n'),
      'config/slots/llama-order.toml': slotFile('rerank', 'ranks'),
    },
  }),
);
beforeAll(() => {
  openai = openaiClient(gateway, { apiKey: 'none' });
});

const post = (path: string, body: object) => send(gateway, 'POST', path, { body });
const unit = (vector: readonly number[]) => Math.hypot(...vector);

describe.skipIf(program === null)('embeddings and reranking of llama-server', () => {
  it('gives the same vector as base64 and as floats, of texts and of tokens', async () => {
    const coded = await openai.embeddings.create({ model: 'svc/llama', input: [CAT, 'a dog'] });
    const plain = await openai.embeddings.create({
      model: 'svc/llama',
      input: [CAT, 'a dog'],
      encoding_format: 'float',
    });
    expect(coded.data.map(({ embedding }) => embedding.length)).toEqual([64, 64]);
    plain.data.forEach(({ embedding }, at) => {
      expect(embedding.map(Math.fround)).toEqual(coded.data[at]?.embedding);
    });
    expect(coded.usage.prompt_tokens).toBeGreaterThan(8);
    const tokens = await openai.embeddings.create({ model: 'svc/llama', input: [[100, 101], [102]] });
    expect(tokens.data).toHaveLength(2);
    const one = await openai.embeddings.create({ model: 'svc/llama', input: [100, 101] });
    expect(one.data).toHaveLength(1);
  });

  it('dimensions: truncated and normalised where the slot declares them, else refused with the field name', async () => {
    const whole = await openai.embeddings.create({
      model: 'svc/llama',
      input: CAT,
      encoding_format: 'float',
    });
    const short = await openai.embeddings.create({ model: 'svc/llama', input: CAT, dimensions: 16 });
    const vector = short.data[0]?.embedding ?? [];
    expect(vector).toHaveLength(16);
    expect(unit(vector)).toBeCloseTo(1, 5);
    const head = (whole.data[0]?.embedding ?? []).slice(0, 16);
    vector.forEach((value, at) => {
      expect(value).toBeCloseTo((head[at] as number) / unit(head), 5);
    });
    await expect(
      openai.embeddings.create({ model: 'svc/llama', input: CAT, dimensions: 8 }),
    ).rejects.toMatchObject({
      status: 422,
      param: 'dimensions',
    });
    expect(
      (await openai.embeddings.create({ model: 'svc/llama', input: CAT, dimensions: 64 })).data[0]?.embedding,
    ).toHaveLength(64);
  });

  it('a text that is too long is refused with both sizes', async () => {
    for (const [path, body, param] of [
      [EMBEDDINGS, { model: 'svc/llama', input: ['short', 'x '.repeat(600)] }, 'input'],
      [RERANK, { model: 'svc/llama-order', query: 'q', documents: ['a', 'x '.repeat(600)] }, 'documents'],
    ] as const) {
      const answer = await post(path, body);
      expect([answer.status, answer.code]).toEqual([400, 'context_length_exceeded']);
      const { error } = answer.json<{
        error: { param: string; details: { n_prompt_tokens: number; n_ctx: number } };
      }>();
      expect(error.param).toBe(param);
      expect(error.details.n_prompt_tokens).toBeGreaterThan(error.details.n_ctx);
    }
  });

  it.each(['/v1/rerankings', '/v1/rerank', '/v1/reranking'])(
    'reranks in the same format: %s',
    async (path) => {
      const body = {
        model: 'svc/llama-order',
        query: 'cat on mat',
        documents: DOCUMENTS.map((text) => ({ text })),
      };
      const results = expectRanking(await post(path, { ...body, return_documents: true, top_n: 2 }), 'ranks');
      expect(results.map(({ index, document }) => [index, document?.text])[0]).toEqual([1, CAT]);
      expect(results).toHaveLength(2);
      const keys = ['_svc', 'index', 'relevance_score'];
      const plain = expectRanking(await post(path, body), 'ranks');
      expect(plain.map((each) => Object.keys(each).sort())).toEqual([keys, keys, keys]);
    },
  );
});
