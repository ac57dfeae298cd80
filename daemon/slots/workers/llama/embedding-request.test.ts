import { expect, test } from 'vitest';
import { embeddingRequest, MAX_INPUTS } from './embedding-request.ts';

test.each([
  ['a', ['a']],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [[1, 2], [[1, 2]]],
  [
    [[1, 2], [3]],
    [[1, 2], [3]],
  ],
])('parses %j as %j', (input, inputs) => {
  expect(embeddingRequest({ input }).inputs).toEqual(inputs);
});

test("defaults to floats of the model's length, and null counts as absent", () => {
  expect(embeddingRequest({ input: 'a', dimensions: null, encoding_format: null, user: 'x' })).toEqual({
    inputs: ['a'],
    format: 'float',
    dimensions: null,
  });
  expect(embeddingRequest({ input: 'a', dimensions: 8, encoding_format: 'base64' })).toMatchObject({
    format: 'base64',
    dimensions: 8,
  });
});

test('accepts a long token array as one text and refuses a long list of texts', () => {
  const many = MAX_INPUTS + 1;
  expect(embeddingRequest({ input: Array(many).fill(7) }).inputs).toHaveLength(1);
  expect(embeddingRequest({ input: Array(MAX_INPUTS).fill('a') }).inputs).toHaveLength(MAX_INPUTS);
  expect(() => embeddingRequest({ input: Array(many).fill('a') })).toThrow('more than 2048');
});

test.each([
  [undefined, 'input: must be'],
  [{}, 'input: must be'],
  [['a', 1], 'input[1]: must be'],
  [['a', ''], 'input[1]: must not be empty'],
  [[[1], []], 'input[1]: must not be empty'],
  [[[-1]], 'input[0]: a token'],
])('refuses %j: %s', (input, message) => {
  expect(() => embeddingRequest({ input })).toThrow(message);
});
