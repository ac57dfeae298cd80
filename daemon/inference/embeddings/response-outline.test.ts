import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ResponseOutline } from './response-outline.ts';
import { transformEmbeddings } from './vectors.ts';

type Format = 'float' | 'base64';

const outlineOf = (body: string, format: Format, count: number, sizes: readonly number[] = []) => {
  const outline = new ResponseOutline({ format, count });
  const bytes = Buffer.from(body);
  let at = 0;
  for (const size of sizes) {
    outline.push(bytes.subarray(at, at + size));
    at += size;
  }
  outline.push(bytes.subarray(at));
  return outline;
};
const isUnchanged = (body: string, format: Format = 'float', count = 1) =>
  outlineOf(body, format, count).isUnchanged();

const USAGE = { prompt_tokens: 3, total_tokens: 3 };
const listOf = (vectors: readonly unknown[], more: object = {}) => ({
  object: 'list',
  model: 'theirs',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  usage: USAGE,
  ...more,
});
const text = (vectors: readonly unknown[], more: object = {}) => JSON.stringify(listOf(vectors, more));
const row = (more: object) => ({ object: 'embedding', index: 0, embedding: [1], ...more });

describe('passes unchanged', () => {
  test.each<[string, string, Format, number]>([
    ['floats', text([[0.5, -1e-9], [1]]), 'float', 2],
    ['base64', text(['AACAPw==', 'AACA/w==']), 'base64', 2],
    ['base64 with escaped slashes', text(['AACA/w==']).replace('/', '\\/'), 'base64', 1],
    ['pretty-printed', JSON.stringify(listOf([[0.5, 2], [1]]), null, 2), 'float', 2],
    ['usage first', text([[1]]).replace('{', `{"usage":${JSON.stringify(USAGE)},`), 'float', 1],
    ['more fields', text([[1]], { id: 'x', created: 1, timings: { a: [1] } }), 'float', 1],
    ['a name outside ASCII', text([[1]], { model: 'modèle "N" \\ ö' }), 'float', 1],
    ['a name that looks like a vector', text([[1]], { model: '"embedding":[1' }), 'float', 1],
    ['2,048 vectors', text(Array(2_048).fill([1, 2])), 'float', 2_048],
  ])('%s', (_, body, format, count) => {
    expect(isUnchanged(body, format, count)).toBe(true);
  });
});

describe('is converted', () => {
  test.each<[string, string, Format?, number?]>([
    ['floats for base64', text([[1]]), 'base64'],
    ['base64 for floats', text(['AACAPw==']), 'float'],
    ['base64 in the second vector', text([[1], 'AACAPw==']), 'float', 2],
    ['fewer vectors than inputs', text([[1]]), 'float', 2],
    ['more vectors than inputs', text([[1], [2]]), 'float', 1],
    ['another order', text([], { data: [row({ index: 1 }), row({ index: 0 })] }), 'float', 2],
    ['an index twice', text([], { data: [row({}), row({})] }), 'float', 2],
    ['no index', text([], { data: [row({ index: undefined })] })],
    ['no type of a row', text([], { data: [row({ object: undefined })] })],
    ['no type of the list', text([[1]], { object: undefined })],
    ['no model', text([[1]], { model: undefined })],
    ['no usage', text([[1]], { usage: undefined })],
    ['usage null', text([[1]], { usage: null })],
    ['no total', text([[1]], { usage: { prompt_tokens: 1 } })],
    ['no prompt tokens', text([[1]], { usage: { total_tokens: 1 } })],
    ['a vector of null', text([null])],
    ['an empty vector', text([[]])],
    ['an empty base64 vector', text(['']), 'base64'],
    ['a nested vector', text([[[1]]])],
    ['NaN', text([[1, 2]]).replace('2', 'NaN')],
    ['Infinity', text([[1, 2]]).replace('2', '-Infinity')],
    ['a vector outside the list', text([null], { embedding: [1] })],
    ['a vector after much white space', text([[1]]).replace('[1]', `${' '.repeat(200)}[1]`), 'base64'],
    ['an error', '{"object":"error","message":"no","code":500}'],
    ['an incomplete body', text([[1]]).slice(0, -1)],
    ['an incomplete vector', text([[1]]).slice(0, text([[1]]).indexOf('[1]') + 2)],
    ['a compressed body', '\x1f\x8b\x08\x00\x00'],
    ['an empty body', ''],
    ['a page', `<html>${'x'.repeat(100_000)}</html>`],
    ['too many other bytes', text([[1]], { id: 'x'.repeat(20_000) })],
  ])('%s', (_, body, format = 'float', count = 1) => {
    expect(isUnchanged(body, format, count)).toBe(false);
  });
});

const vectors = fc.oneof(
  fc.array(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 60 }), {
    minLength: 1,
    maxLength: 8,
  }),
  fc.array(
    fc.uint8Array({ minLength: 4, maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    { minLength: 1, maxLength: 8 },
  ),
);

test('decides the same for any chunks, and passes only what the conversion leaves unchanged', () => {
  const indent = fc.constantFrom(undefined, 1, 4);
  const sizes = fc.array(fc.integer({ min: 0, max: 90 }), { maxLength: 60 });
  fc.assert(
    fc.property(
      vectors,
      indent,
      sizes,
      fc.constantFrom<Format>('float', 'base64'),
      (all, indented, cut, format) => {
        const body = JSON.stringify(listOf(all), null, indented);
        const unchanged = outlineOf(body, format, all.length, cut).isUnchanged();
        expect(unchanged).toBe((typeof all[0] === 'string') === (format === 'base64'));
        if (!unchanged) return;
        const options = { format, count: all.length, dimensions: null, cut: false };
        const converted = transformEmbeddings(Buffer.from(body), options, 'ours').toString();
        expect(JSON.parse(converted)).toEqual(JSON.parse(body));
      },
    ),
  );
});

test.each<[string, Format, boolean]>([
  ['{"data":[{"embedding":[0.1', 'float', true],
  ['{"data":[{"embedding" : "AAAA', 'base64', true],
  ['{"data":[{"embedding":[0.1', 'base64', false],
  ['{"data":[{"embedding":"AA', 'float', false],
  ['{"data":[{"embedding":[0.1, NaN', 'float', false],
  ['{"model":"x"', 'float', false],
])('the beginning %s as %s: %s', (head, format, starts) => {
  expect(outlineOf(head, format, 1).startsUnchanged()).toBe(starts);
});
