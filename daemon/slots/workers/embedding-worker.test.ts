import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../lib/seeded-random.ts';
import { noise } from '../../models/testing/gguf/tensor-values.ts';
import { tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../../models/testing/gguf/tiny-embed.ts';
import { u32 } from '../../models/testing/gguf/writer.ts';
import { type ForkedWorker, forkWorker, KEY, modelFile } from './testing/forked-worker.ts';

const PATH = '/v1/embeddings';
const WINDOW = 512;

interface Answer {
  status: number;
  object: string;
  model: string;
  data: { object: string; index: number; embedding: number[] }[];
  usage: { prompt_tokens: number; total_tokens: number };
  error?: {
    code: string;
    message: string;
    type: string;
    param: string;
    n_prompt_tokens?: number;
    n_ctx?: number;
  };
}

let worker: ForkedWorker;
let file: Awaited<ReturnType<typeof modelFile>>;

beforeAll(async () => {
  file = await modelFile(tinyEmbed());
  worker = await forkWorker(file.path, { kind: 'embedding', context: WINDOW, queueLimit: 1 });
  await worker.ready;
}, 30_000);
afterAll(async () => {
  await worker.stop();
  await file.remove();
});

const request = async (body: object): Promise<Answer> => {
  const response = await worker.post(PATH, body);
  return { ...((await response.json()) as Answer), status: response.status };
};
const vectors = async (body: object) => (await request(body)).data.map(({ embedding }) => embedding);
const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

describe('vectors', () => {
  test('returns a list with one vector, the model and the counts', async () => {
    const answer = await request({ input: 'the cat', model: 'whatever' });
    expect(answer).toMatchObject({
      status: 200,
      object: 'list',
      model: 'tiny',
      data: [{ object: 'embedding', index: 0 }],
    });
    expect(answer.data[0]?.embedding).toHaveLength(64);
    expect(answer.usage.prompt_tokens).toBeGreaterThan(2);
    expect(answer.usage.total_tokens).toBe(answer.usage.prompt_tokens);
  });

  test('every vector has length 1, and similar texts are closer than others', async () => {
    const [cat, near, far, same] = await vectors({
      input: [
        'the cat sat on the mat',
        'a cat is on a mat',
        'quantum flux xylophone',
        'the cat sat on the mat',
      ],
    });
    for (const vector of [cat, near, far]) expect(dot(vector ?? [], vector ?? [])).toBeCloseTo(1, 5);
    expect(dot(cat ?? [], near ?? [])).toBeGreaterThan(0.6);
    expect(dot(cat ?? [], far ?? [])).toBeLessThan(0.5);
    expect(same).toEqual(cat);
  });

  test('returns many texts in their order', async () => {
    const texts = Array.from({ length: 40 }, (_, i) => `text ${String.fromCharCode(97 + (i % 26))} ${i}`);
    const answer = await request({ input: texts });
    expect(answer.data.map(({ index }) => index)).toEqual(texts.map((_, i) => i));
    const [alone] = await vectors({ input: texts[17] });
    expect(answer.data[17]?.embedding).toEqual(alone);
  });

  test('base64 is the same float32, little-endian', async () => {
    const [floats] = await vectors({ input: 'hello', encoding_format: 'float' });
    const coded = (await request({ input: 'hello', encoding_format: 'base64' })).data[0]
      ?.embedding as never as string;
    const bytes = Buffer.from(coded, 'base64');
    const read = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
    expect(read).toEqual(floats?.map(Math.fround));
  });

  test('accepts tokens of the model, alone and in a list', async () => {
    const tokens = [100, 101, 102];
    const [alone] = await vectors({ input: tokens });
    const list = await vectors({ input: [tokens, [200, 201]] });
    expect(list[0]).toEqual(alone);
    expect(list[1]).not.toEqual(alone);
    expect((await request({ input: tokens })).usage.prompt_tokens).toBe(tokens.length + 2);
  });
});

test.each([' ', '\n', '\0', '\ud800', ' \t '])(
  'a text without words, %j, is represented by the marks of the model',
  async (input) => {
    const answer = await request({ input: ['hello', input] });
    expect(answer.status).toBe(200);
    const [, vector] = answer.data.map(({ embedding }) => embedding);
    expect(vector).toHaveLength(64);
    expect(dot(vector ?? [], vector ?? [])).toBeCloseTo(1, 5);
    expect((await request({ input })).usage.prompt_tokens).toBe(2);
  },
);

describe('the window', () => {
  const filling = (tokens: number) => Array.from({ length: tokens }, () => 100);

  test('accepts a text that fills it', async () => {
    const answer = await request({ input: filling(WINDOW - 2) });
    expect(answer.usage.prompt_tokens).toBe(WINDOW);
    expect(answer.data[0]?.embedding).toHaveLength(64);
  });

  test('refuses one more token with the numbers, before it evaluates any text', async () => {
    const answer = await request({ input: ['short', filling(WINDOW - 1)] });
    expect(answer).toMatchObject({
      status: 400,
      error: {
        code: 'context_length_exceeded',
        type: 'invalid_request_error',
        param: 'input',
        n_prompt_tokens: WINDOW + 1,
        n_ctx: WINDOW,
      },
    });
    expect(answer.error?.message).toContain('input[1]');
  });

  test("never exceeds the model's positions", async () => {
    const small = await modelFile(tinyEmbed({ context: 100 }));
    const other = await forkWorker(small.path, { kind: 'embedding', context: 4_096 });
    try {
      expect((await other.ready).context).toBe(100);
      expect((await other.post(PATH, { input: filling(98) })).status).toBe(200);
      expect((await other.post(PATH, { input: filling(99) })).status).toBe(400);
    } finally {
      await other.stop();
      await small.remove();
    }
  }, 30_000);
});

describe('refusals', () => {
  test.each([
    [{}, 'input'],
    [{ input: [] }, 'input'],
    [{ input: '' }, 'input'],
    [{ input: ['a', ''] }, 'input'],
    [{ input: [[]] }, 'input'],
    [{ input: [1.5] }, 'input'],
    [{ input: [999_999] }, 'input'],
    [{ input: Array(2_049).fill('a') }, 'input'],
    [{ input: 'a', dimensions: 32 }, 'dimensions'],
    [{ input: 'a', encoding_format: 'hex' }, 'encoding_format'],
  ])('%j names %s', async (body, param) => {
    const answer = await request(body);
    expect(answer).toMatchObject({
      status: 422,
      error: { code: 'request.invalid', param, details: { fields: [{ path: param }] } },
    });
  });

  test("accepts the model's own number of dimensions", async () => {
    expect((await request({ input: 'a', dimensions: 64 })).status).toBe(200);
  });

  test('refuses chats', async () => {
    expect((await worker.post('/v1/chat/completions', { messages: [] })).status).toBe(404);
    const models = await fetch(`${worker.origin}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } });
    expect(await models.json()).toMatchObject({ data: [{ id: 'tiny', meta: { n_ctx: WINDOW } }] });
  });
});

describe('concurrent callers', () => {
  const long = { input: Array(2_000).fill('the cat sat on the mat') };

  test('a short request does not wait for a long one', async () => {
    const ended: string[] = [];
    const slow = worker.post(PATH, long).then(() => ended.push('long'));
    await expect.poll(async () => (await worker.health()).active).toBe(1);
    await request({ input: 'hello' }).then(() => ended.push('short'));
    await slow;
    expect(ended).toEqual(['short', 'long']);
  });

  test('a disconnect frees the engine, and the full queue refuses others', async () => {
    const leave = new AbortController();
    const busy = Array.from({ length: 3 }, () =>
      worker.post(PATH, long, { signal: leave.signal }).catch(() => 'left'),
    );
    await expect.poll(() => worker.health()).toMatchObject({ active: 2, queued: 1 });
    const refused = await worker.post(PATH, { input: 'a' });
    expect(refused.status).toBe(429);
    leave.abort();
    expect(await Promise.all(busy)).toEqual(['left', 'left', 'left']);
    await expect.poll(() => worker.health()).toMatchObject({ active: 0, queued: 0 });
    expect((await request({ input: 'a' })).status).toBe(200);
  });
});

test('refuses a file that does not state its pooling, with the reason', async () => {
  const { keys, tensors } = tinyEmbed();
  const { 'bert.pooling_type': _, ...silent } = keys;
  const unclear = await modelFile({ keys: silent, tensors });
  const other = await forkWorker(unclear.path, { kind: 'embedding' });
  await expect(other.ready).rejects.toThrow('does not state the pooling of its vectors');
  await other.stop();
  await unclear.remove();
});

test('refuses to load a chat model for reranking', async () => {
  const chat = await modelFile(tinyChat());
  const other = await forkWorker(chat.path, { kind: 'rerank' });
  await expect(other.ready).rejects.toThrow('not supported');
  await other.stop();
  await chat.remove();
});

describe('a decoder whose vector is that of the last token', () => {
  /** A chat model with attention that mixes all earlier tokens into the last one. */
  function decoder() {
    const model = tinyChat({ layers: 2 });
    const random = seededRandom(3);
    const tensors = model.tensors.map((tensor) =>
      tensor.name.endsWith('attn_output.weight')
        ? { ...tensor, data: noise(random, tensor.data.length, 0.1) }
        : tensor,
    );
    return { keys: { ...model.keys, 'llama.pooling_type': u32(3) }, tensors };
  }

  test('reads a long text in several steps, with the vector of one step', async () => {
    const decoderFile = await modelFile(decoder());
    const input = 'the cat sat on the mat and looked at the other cat. '.repeat(5);
    const vectorWith = async (batch: number): Promise<number[]> => {
      const one = await forkWorker(decoderFile.path, { kind: 'embedding', context: WINDOW, batch });
      await one.ready;
      const response = await one.post(PATH, { input });
      const { data } = (await response.json()) as Answer;
      await one.stop();
      return data[0]?.embedding ?? [];
    };
    const [whole, stepped] = [await vectorWith(WINDOW), await vectorWith(32)];
    expect(dot(whole, whole)).toBeCloseTo(1, 5);
    expect(dot(whole, stepped)).toBeCloseTo(1, 4);
    await decoderFile.remove();
  });
});
