import { expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { EMBEDDING_NAMES, scanBody } from '../rewrite/body-index.ts';
import { MAX_INPUTS, parseEmbeddingRequest } from './embedding-request.ts';

const read = (body: object) =>
  parseEmbeddingRequest(scanBody(Buffer.from(JSON.stringify(body)), EMBEDDING_NAMES));
const whole = { format: 'float', dimensions: null };

test.each([
  [{ input: 'a' }, { ...whole, count: 1, tokens: false }],
  [{ input: ['a', 'b'] }, { ...whole, count: 2, tokens: false }],
  [{ input: [1, 2, 3] }, { ...whole, count: 1, tokens: true }],
  [{ input: [[1, 2], [3]] }, { ...whole, count: 2, tokens: true }],
  [{ input: ['a', [3]] }, { ...whole, count: 2, tokens: true }],
  [{ input: Array(MAX_INPUTS).fill('x') }, { ...whole, count: MAX_INPUTS, tokens: false }],
  [{ input: Array(MAX_INPUTS + 1).fill(7) }, { ...whole, count: 1, tokens: true }],
  [
    { input: 'a', encoding_format: null, dimensions: null },
    { ...whole, count: 1, tokens: false },
  ],
  [
    { dimensions: 8, encoding_format: 'base64', input: 'a' },
    { format: 'base64', dimensions: 8, count: 1, tokens: false },
  ],
])('%j', (body, expected) => expect(read(body)).toEqual(expected));

test.each([
  [{}, 'input', 'is required'],
  [{ input: null }, 'input', 'is required'],
  [{ input: '' }, 'input', 'must not be empty'],
  [{ input: [] }, 'input', 'must not be empty'],
  [{ input: ['a', ''] }, 'input', 'input[1]: must not be empty'],
  [{ input: [[1], []] }, 'input', 'input[1]: must not be empty'],
  [{ input: [1, 'a'] }, 'input', 'must not mix tokens with texts'],
  [{ input: [['a']] }, 'input', 'input[0]: a token must be a number'],
  [{ input: [{ text: 'a' }] }, 'input', 'input[0]: must be a text or tokens'],
  [{ input: 5 }, 'input', 'must be a text, tokens, or a list of either'],
  [
    { input: Array(MAX_INPUTS + 1).fill('x') },
    'input',
    `has ${MAX_INPUTS + 1} items; the maximum per request is ${MAX_INPUTS}`,
  ],
  [{ input: 'a', dimensions: 0 }, 'dimensions', 'must be a whole number above 0'],
  [{ input: 'a', dimensions: 1.5 }, 'dimensions', 'must be a whole number above 0'],
  [{ input: 'a', dimensions: '8' }, 'dimensions', 'must be a whole number above 0'],
  [{ input: 'a', encoding_format: 'hex' }, 'encoding_format', 'must be "float" or "base64"'],
])('%# is refused with its field name', (body, path, reason) => {
  try {
    read(body);
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({
      status: 422,
      code: 'request.invalid',
      options: { param: path, details: { fields: [{ path, reason }] } },
    });
    return;
  }
  throw new Error('it was accepted');
});
