import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { transformEmbeddings, type VectorOptions } from './vectors.ts';

type Embeddings = {
  object: string;
  model: string;
  usage: object;
  data: { object: string; index: number; embedding: string | number[] }[];
};
const optionsOf = (more: Partial<VectorOptions> = {}): VectorOptions => ({
  format: 'float',
  dimensions: null,
  count: 1,
  cut: false,
  ...more,
});
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const transformed = (body: unknown, more: Partial<VectorOptions> = {}): Embeddings =>
  JSON.parse(transformEmbeddings(bytes(body), optionsOf(more), 'ours').toString()) as Embeddings;
const base64 = (vector: readonly number[]) => {
  const out = Buffer.alloc(vector.length * 4);
  vector.forEach((value, at) => {
    out.writeFloatLE(value, at * 4);
  });
  return out.toString('base64');
};
/** JSON has no negative zero. */
const float32 = fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

describe('the requested format', () => {
  test('floats become base64 and base64 becomes floats, float32 for float32', () => {
    fc.assert(
      fc.property(fc.array(float32, { minLength: 1, maxLength: 40 }), (vector) => {
        const coded = transformed({ data: [{ embedding: vector }] }, { format: 'base64' }).data[0]?.embedding;
        expect(coded).toBe(base64(vector));
        const plain = transformed({ data: [{ embedding: coded }] }).data[0]?.embedding as number[];
        expect(plain.map((value) => Math.fround(value) + 0)).toEqual(vector.map((value) => value + 0));
      }),
    );
  });

  test('leaves vectors in the requested format unchanged', () => {
    const text = '{"data":[{"embedding":[0.10000000000000000555,-1e-9]}],"usage":{}}';
    const { data } = JSON.parse(
      transformEmbeddings(Buffer.from(text), optionsOf(), null).toString(),
    ) as Embeddings;
    expect(data[0]?.embedding).toEqual([0.1, -1e-9]);
    expect(transformed({ data: [{ embedding: 'AACAPw==' }] }, { format: 'base64' }).data[0]?.embedding).toBe(
      'AACAPw==',
    );
  });
});

describe('the requested length', () => {
  test('is truncated and normalised where the model was trained for it', () => {
    const body = { data: [{ embedding: [3, 4, 12, 84] }] };
    expect(transformed(body, { dimensions: 2, cut: true }).data[0]?.embedding).toEqual(
      [0.6, 0.8].map(Math.fround).map((v) => Number(v.toPrecision(9))),
    );
    expect(
      transformed(
        { data: [{ embedding: base64([3, 4, 12]) }] },
        { dimensions: 2, cut: true, format: 'base64' },
      ).data[0]?.embedding,
    ).toBe(base64([0.6, 0.8].map(Math.fround)));
  });

  test.each([[[1, 0, 0]], [base64([1, 0, 0])], [[1]]])(
    '%j is refused, naming the field, when the length was not applied',
    (embedding) => {
      expect(() => transformed({ data: [{ embedding }] }, { dimensions: 2 })).toThrow(
        expect.objectContaining({
          status: 422,
          code: 'request.invalid',
          options: expect.objectContaining({ param: 'dimensions' }),
        }) as Error,
      );
    },
  );

  test('is used from an engine that supports it', () => {
    expect(transformed({ data: [{ embedding: [0, 1] }] }, { dimensions: 2 }).data[0]?.embedding).toEqual([
      0, 1,
    ]);
  });

  test('longer than the vectors of the model is refused, never padded', () => {
    expect(() => transformed({ data: [{ embedding: [0, 1] }] }, { dimensions: 4, cut: true })).toThrow('4');
  });
});

test('the response always has the order of the inputs, object, model and counts', () => {
  const answer = transformed(
    {
      id: 'x',
      data: [
        { index: 1, embedding: [2] },
        { index: 0, embedding: [1] },
      ],
      usage: { total_tokens: 5 },
    },
    { count: 2 },
  );
  expect(answer).toEqual({
    id: 'x',
    object: 'list',
    data: [
      { object: 'embedding', index: 0, embedding: [1] },
      { object: 'embedding', index: 1, embedding: [2] },
    ],
    model: 'ours',
    usage: { prompt_tokens: 5, total_tokens: 5 },
  });
  expect(transformed({ model: 'theirs', data: [{ embedding: [1] }] })).toMatchObject({
    model: 'theirs',
    usage: { prompt_tokens: 0, total_tokens: 0 },
  });
});

test.each([
  ['text'],
  [[]],
  [{}],
  [{ data: [] }],
  [{ data: [null] }],
  [{ data: [{ embedding: [] }] }],
  [{ data: [{ embedding: '' }] }],
  [{ data: [{ embedding: [[1]] }] }],
  [{ data: [{ embedding: [null] }] }],
  [{ data: [{ embedding: [1] }, { embedding: [2] }] }],
  [{ data: [{ index: 'a', embedding: [1] }] }],
])('%j is not a list of vectors: 502', (body) => {
  for (const format of ['float', 'base64'] as const)
    expect(() => transformed(body, { format })).toThrow(
      expect.objectContaining({ code: 'upstream.error', status: 502 }) as Error,
    );
});
