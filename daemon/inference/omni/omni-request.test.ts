import { expect, test } from 'vitest';
import { scanBody } from '../rewrite/body-index.ts';
import { parseOmniRequest } from './omni-request.ts';

test.each([
  [{ messages: [5] }, 'messages', 'must contain objects'],
  [{ messages: 5 }, 'messages', 'must be an array'],
  [{ messages: [{ role: 'user', content: 'x' }], n: 2 }, 'n', 'must be 1 with omni'],
])('%j is refused with its field name', (more, path, reason) => {
  const body = Buffer.from(JSON.stringify({ omni: true, ...more }));
  expect(() => parseOmniRequest(body, scanBody(body))).toThrow(
    expect.objectContaining({
      code: 'request.invalid',
      message: `${path}: ${reason}`,
      options: expect.objectContaining({ param: path, details: { fields: [{ path, reason }] } }),
    }) as Error,
  );
});
