/** MiniLM-L6-v2, a real sentence encoder with real weights, in the embedded engine behind a gateway. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openaiClient } from '../../../daemon/test/harness/openai.ts';
import { bertToGguf, readBert } from '../harness/bert-to-gguf.ts';
import { minilm } from '../harness/real-models.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

/** Written by `minilm-references.py` next to the file, a float32 implementation that shares no code with llama.cpp. */
const REFERENCES = join(import.meta.dirname, 'fixtures', 'minilm-references.json');
/** Rounding of the weights to 16 bits costs about 2e-6. */
const MIN_COSINE = 0.9999;
const SIZE = 384;
const MODEL = 'MiniLM-L6-v2';

interface Reference {
  readonly text: string;
  readonly tokens: number;
  readonly vector: readonly number[];
}

const references = JSON.parse(readFileSync(REFERENCES, 'utf8')) as Reference[];
const texts = references.map(({ text }) => text);

const folder = await availableOrSkip('MiniLM in the embedded engine', minilm);

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * (y[i] ?? Number.NaN), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

describe.skipIf(folder === null)('MiniLM-L6-v2 in the embedded engine', () => {
  const gateway = new OneGateway(() =>
    startGateway({
      models: { [MODEL]: bertToGguf(readBert(folder ?? '', MODEL)) },
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        'config/slots/embed.toml': `model = "${MODEL}"\ntype = "embedding"\ndevice = "cpu"\n`,
      },
    }),
  );
  let openai: OpenAI;
  beforeAll(() => {
    openai = openaiClient(gateway, { timeout: 90_000 });
  });

  const vectorsOf = async (input: string[]): Promise<number[][]> =>
    (await openai.embeddings.create({ model: 'embed', input, encoding_format: 'float' })).data.map(
      ({ embedding }) => embedding,
    );

  it('the model list has its context window and capabilities', async () => {
    const model = (await send(gateway, 'GET', `/v1/models/${MODEL}`)).json();
    expect(model).toMatchObject({ context_length: 512, capabilities: { embeddings: true } });
  });

  it.each(references)('equals the float32 implementation: $text', async ({ text, tokens, vector }) => {
    const { data, usage } = await openai.embeddings.create({
      model: 'embed',
      input: text,
      encoding_format: 'float',
    });
    expect(usage.prompt_tokens).toBe(tokens);
    expect(data[0]?.embedding).toHaveLength(SIZE);
    expect(cosine(data[0]?.embedding ?? [], vector)).toBeGreaterThanOrEqual(MIN_COSINE);
  });

  it('all texts in one request: the same vectors in the same order', async () => {
    const vectors = await vectorsOf(texts);
    const cosines = vectors.map((vector, i) => cosine(vector, references[i]?.vector ?? []));
    expect(cosines).toHaveLength(references.length);
    expect(Math.min(...cosines)).toBeGreaterThanOrEqual(MIN_COSINE);
  });

  it('base64 has the same numbers', async () => {
    const input = texts.slice(0, 3);
    const floats = await vectorsOf(input);
    const body = { model: 'embed', input, encoding_format: 'base64' };
    const answer = await send(gateway, 'POST', '/v1/embeddings', { body });
    const { data } = answer.json<{ data: { embedding: string }[] }>();
    for (const [i, { embedding }] of data.entries()) {
      const bytes = Buffer.from(embedding, 'base64');
      const decoded = Array.from({ length: SIZE }, (_, at) => bytes.readFloatLE(4 * at));
      expect(bytes).toHaveLength(4 * SIZE);
      expect(cosine(decoded, floats[i] ?? [])).toBeCloseTo(1, 9);
    }
  });

  it('the two sentences about a cat are nearest to each other', async () => {
    const vectors = await vectorsOf(texts);
    const nearest = vectors.map((vector, i) => {
      const others = vectors.map((other, j) => (i === j ? -1 : cosine(vector, other)));
      return others.indexOf(Math.max(...others));
    });
    expect(texts.slice(0, 2)).toEqual([expect.stringContaining('cat'), expect.stringContaining('cat')]);
    expect(nearest.slice(0, 2)).toEqual([1, 0]);
  });
});
