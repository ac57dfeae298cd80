import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import Koa, { type Context } from 'koa';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { GatewayError } from '../contract/errors.ts';
import {
  isDeeperThan,
  isJsonType,
  isWellFormed,
  MAX_DEPTH,
  parseWith,
  prototypeKeyIn,
  readApiBody,
  readBytes,
} from './read-body.ts';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

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

describe('deeperThan', () => {
  it('B03 counts nesting without recursion', () => {
    expect(isDeeperThan(nested(MAX_DEPTH), MAX_DEPTH)).toBe(false);
    expect(isDeeperThan(nested(MAX_DEPTH + 1), MAX_DEPTH)).toBe(true);
    expect(isDeeperThan(nested(50_000), MAX_DEPTH)).toBe(true);
  });
  it('scalars have no depth', () => expect(isDeeperThan('x', MAX_DEPTH)).toBe(false));
});

describe('wellFormed', () => {
  it.each(['"\\ud800"', '{"a":["\\udc00x"]}', '{"\\ud83d":1}', '["\\ude00\\ud83d"]'])(
    'B05 %s is not well-formed',
    (json) => expect(isWellFormed(JSON.parse(json))).toBe(false),
  );
  it.each(['"\\ud83d\\ude00"', '{"a":[1,null,true,"\ufffd"]}', '"\\\\ud800"', '7'])(
    '%s is well-formed',
    (json) => expect(isWellFormed(JSON.parse(json))).toBe(true),
  );
});

describe('prototypeKeyIn', () => {
  it.each([
    ['{"__proto__":1}', '__proto__'],
    ['{"a":[{"b":{"__proto__":{"x":1}}}]}', 'a.0.b.__proto__'],
    ['[{"__proto__":null}]', '0.__proto__'],
    ['{"\\u005f_proto__":1}', '__proto__'],
    ['{"constructor":{"prototype":{"x":1}}}', 'constructor.prototype'],
    ['{"a":{"constructor":{"y":1,"prototype":1}}}', 'a.constructor.prototype'],
  ])('%s has %s', (json, path) => expect(prototypeKeyIn(JSON.parse(json))).toBe(path));
  it.each([
    '{"constructor":"x"}',
    '{"prototype":{"constructor":1}}',
    '{"text":"__proto__"}',
    '["__proto__","constructor"]',
    '"__proto__"',
    'null',
  ])('%s has none', (json) => expect(prototypeKeyIn(JSON.parse(json))).toBeNull());
  it('walks deep values without recursion', () => expect(prototypeKeyIn(nested(20_000))).toBeNull());
});

describe('parseWith', () => {
  const schema = z.object({ key: z.string() });
  it('names path and reason, never the value', () => {
    try {
      parseWith(schema, { key: 42_424_242 });
      expect.unreachable();
    } catch (error) {
      const failure = error as GatewayError;
      expect(failure.code).toBe('request.invalid');
      expect(JSON.stringify(failure.options.details)).toContain('"path":"key"');
      expect(JSON.stringify(failure.options.details)).not.toContain('42424242');
    }
  });
  it('treats a missing body as an empty object and null as null', () => {
    const optional = z.object({ tier: z.string().default('admin') });
    expect(parseWith(optional, undefined)).toEqual({ tier: 'admin' });
    expect(() => parseWith(optional, null)).toThrow(GatewayError);
  });
});

it('frees the memory of an aborted long body', async () => {
  const LENGTH = 13 * 1024 * 1024;
  const buffers: Buffer[] = [];
  const allocate = Buffer.allocUnsafeSlow;
  const allocations = vi.spyOn(Buffer, 'allocUnsafeSlow').mockImplementation((bytes) => {
    const buffer = allocate(bytes);
    if (bytes === LENGTH) buffers.push(buffer);
    return buffer;
  });
  const sender = new PassThrough({ highWaterMark: LENGTH });
  const req = Object.assign(sender, { headers: { 'content-length': String(LENGTH) } });
  const read = readBytes(req as unknown as IncomingMessage, {} as ServerResponse, 'inference');
  for (let at = 0; at < 32; at++) sender.write(Buffer.from(new ArrayBuffer(65_536)).fill('d'));
  await new Promise((resolve) => setImmediate(resolve));
  sender.destroy();
  await expect(read).rejects.toMatchObject({ code: 'request.malformed' });
  expect(buffers.map(({ buffer }) => buffer.byteLength)).toEqual([0]);
  allocations.mockRestore();
});
