import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readJson } from './read-json.ts';

const body = (...parts: string[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)));

it('reads a body in several parts', async () => {
  expect(await readJson(body('{"a":', '[1]}'))).toEqual({ a: [1] });
});

it.each(['', '{', '{"a":1}}'])('refuses %j as invalid JSON', async (text) => {
  await expect(readJson(body(text))).rejects.toMatchObject({ code: 'request.invalid_json' });
});

it('refuses a body beyond the limit', async () => {
  await expect(readJson(body('[1,', '2]'), 4)).rejects.toMatchObject({
    code: 'request.too_large',
    status: 413,
  });
});

it('does not report its own failures, such as missing memory, as invalid JSON', async () => {
  const odd = Readable.from(['{}']);
  await expect(readJson(odd)).rejects.toBeInstanceOf(TypeError);
});
