import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { GatewayError } from '../contract/errors.ts';
import { isJsonType, readApiBody } from './read-body.ts';

describe('isJsonType', () => {
  it.each([
    'application/json',
    'APPLICATION/JSON; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/x+json',
    'application/7.a-b+json',
    `application/${'a'.repeat(122)}+json`,
  ])('accepts %s', (type) => expect(isJsonType(type)).toBe(true));
  it.each([
    undefined,
    '',
    'text/plain',
    'application/json; charset=utf-7',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/+json',
    'application/.x+json',
    'application/-+json',
    `application/${'a'.repeat(123)}+json`,
  ])('B06 refuses %s', (type) => expect(isJsonType(type)).toBe(false));
});

describe('readApiBody', () => {
  const schema = z.object({ tier: z.string().default('admin') });
  /** Returns the parsed body of a request, or the error code. */
  async function read(method: string, type: string): Promise<unknown> {
    const app = new Koa();
    const answers = Promise.withResolvers<unknown>();
    const server = createServer((req, res) => {
      readApiBody(app.createContext(req, res) as Context, 'api', schema)
        .then(answers.resolve, ({ code }: GatewayError) => answers.resolve(code))
        .finally(() => res.writeHead(200, { connection: 'close' }).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const body = '{"tier":"client"}';
    const headers = { 'content-type': type, 'content-length': body.length };
    request({ host: '127.0.0.1', port, method, headers }, (res) => res.resume())
      .on('error', () => {})
      .end(body);
    const answer = await answers.promise;
    server.close();
    return answer;
  }

  it.each(['application/json', 'application/x+json', `application/${'a'.repeat(122)}+json`])(
    'accepts %s',
    async (type) => expect(await read('POST', type)).toEqual({ tier: 'client' }),
  );

  it('an unread body never counts as absent', async () => {
    for (const type of ['application/.x+json', 'application/-+json'])
      expect(await read('POST', type)).toBe('request.unsupported_type');
    // The parser reads no body of this method.
    expect(await read('DELETE', 'application/json')).toBe('request.unsupported_type');
  });
});
