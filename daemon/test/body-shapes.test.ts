/** Content of bodies over a real port: shapes, text encodings, types and content codings. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { keyIn } from './harness/auth-gateways.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked } from './harness/gateway.ts';
import { parseRaw, rawExchange, type SendOptions, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const KIB = 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

const gateway = new OneGateway(() => startLocked({ env: { SVC_LOGIN_RATELIMIT_MAX: '10000' } }));

/** A test rotates the admin key; the current one is in the file. */
const currentKey = () => keyIn(gateway, 'SVC_ADMIN_KEY');
const post = (path: string, options: SendOptions) =>
  send(gateway, 'POST', path, { key: ADMIN_KEY, ...options });

describe('B03 shapes that are expensive to parse', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

  it.each(['/api/memory', '/v1/chat/completions'])('%s accepts 64 levels and rejects 65', async (path) => {
    const at64 = await post(path, { body: nested(64), headers: JSON_TYPE });
    expect(at64.code).not.toBe('request.invalid_json');
    const at65 = await post(path, { body: nested(65), headers: JSON_TYPE });
    expect(at65).toMatchObject({ status: 400, code: 'request.invalid_json' });
  });

  it.each([
    ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['100,000 levels without an end', '{"a":'.repeat(100_000)],
    ['100,000 nodes', `[${'{},'.repeat(100_000)}{}]`],
    [
      'an object of 50,000 keys',
      `{${Array.from({ length: 50_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
    ],
    ['a string of 900 KB', `{"key":"${'x'.repeat(900 * KIB)}"}`],
    ['__proto__', '{"__proto__":{"text":"x"}}'],
    ['constructor', '{"constructor":{"prototype":{"text":"x"}}}'],
    ['a number without an end', `{"text":1${'0'.repeat(100_000)}}`],
    ['half a value', '{"text":"x'],
    ['two values', '{"text":"x"}{"text":"y"}'],
    ['white space', '   '],
  ])('%s is rejected without a server error', async (_name, body) => {
    for (const path of ['/api/memory/search', '/v1/chat/completions', '/v1/embeddings']) {
      const response = await post(path, { body, headers: JSON_TYPE });
      expect(
        [400, 404, 409, 413, 422],
        `${path}: ${response.status} ${response.text.slice(0, 200)}`,
      ).toContain(response.status);
    }
    expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
  });

  it.each([
    ['/api/auth/rotate', '{"__proto__":{"tier":"client"}}', '__proto__'],
    ['/api/memory', '{"text":"x","\\u005f_proto__":1}', '__proto__'],
    ['/api/memory', '{"text":"x","__proto__":{"__proto__":1}}', '__proto__'],
    ['/api/memory/search', '{"constructor":{"prototype":{}},"query":"x"}', 'constructor.prototype'],
    ['/api/dispatch/explain', '{"path":"/v1/models","model":{"__proto__":1}}', 'model.__proto__'],
    ['/api/auth/login', '{"key":[{"__proto__":"x"}]}', 'key.0.__proto__'],
  ])('%s names a key that changes a prototype: %s', async (path, text, place) => {
    for (const [body, coding] of [
      [Buffer.from(text), {}],
      [gzipSync(text), { 'content-encoding': 'gzip' }],
    ] as const) {
      const response = await post(path, { body, headers: { ...JSON_TYPE, ...coding } });
      expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
      expect(response.json<{ error: { details: object } }>().error.details).toMatchObject({
        fields: [{ path: place }],
      });
    }
  });

  it.each(['null', '5', 'false', '""', '"admin"', '[]', '[{"tier":"client"}]'])(
    'R02 rotate with the body %s is 422 and rotates nothing',
    async (body) => {
      expect(await post('/api/auth/rotate', { body, headers: JSON_TYPE })).toMatchObject({
        status: 422,
        code: 'request.invalid',
      });
    },
  );
});

describe('B05 text encodings', () => {
  const key = (bytes: Buffer) => Buffer.concat([Buffer.from('{"key":"'), bytes, Buffer.from('"}')]);

  it.each([
    ['a stray byte', [0xff]],
    ['a broken pair', [0xc3, 0x28]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half a surrogate', [0xed, 0xa0, 0x80]],
    ['three bytes of four', [0xf0, 0x9f, 0x98]],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('%s is invalid UTF-8 and 400 on /api', async (_name, bytes) => {
    const response = await post('/api/auth/login', { body: key(Buffer.from(bytes)), headers: JSON_TYPE });
    expect(response).toMatchObject({ status: 400, code: 'request.invalid_json' });
  });

  it('UTF-16 is rejected, with or without a charset', async () => {
    const body = Buffer.from('{"key":"x"}', 'utf16le');
    expect((await post('/api/auth/login', { body, headers: JSON_TYPE })).status).toBe(400);
    const named = { 'content-type': 'application/json; charset=utf-16' };
    expect((await post('/api/auth/login', { body, headers: named })).status).toBe(415);
  });

  it('UTF-8 is stored unchanged, including U+FFFD; a lone surrogate is rejected', async () => {
    for (const text of ['a\\u0000b', '\\ud800', '\ufffd', 'ключ', 'a\u2028b']) {
      const body = Buffer.from(`{"text":"${text}"}`);
      const response = await post('/api/memory', { body, headers: JSON_TYPE });
      if (text === '\\ud800') expect(response).toMatchObject({ status: 400, code: 'request.invalid_json' });
      else expect(response.json<{ text: string }>().text).toBe(JSON.parse(`"${text}"`));
    }
  });

  it('NUL and invalid model names are rejected, never altered', async () => {
    for (const model of ['a\\u0000b', '\\ud800', '../../etc/passwd']) {
      const body = `{"model":"${model}","messages":[{"role":"user","content":"x"}]}`;
      const response = await post('/v1/chat/completions', { body, headers: JSON_TYPE, key: CLIENT_KEY });
      expect([400, 404, 422], `${model}: ${response.text}`).toContain(response.status);
    }
  });
});

describe('B06 types and B07 codings', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=b',
    'application/json; charset=utf-7',
    'application/json; charset=latin1',
    'text/json',
    'application/jsonx',
    '',
  ])('B06 /api rejects %j', async (type) => {
    const part = '--b\r\ncontent-disposition: form-data; name="key"; filename="f"\r\n\r\nx\r\n--b--\r\n';
    const body = type.startsWith('multipart') ? part : '{"key":"x"}';
    for (const path of ['/api/auth/login', '/api/memory']) {
      const response = await post(path, { body, headers: type === '' ? {} : { 'content-type': type } });
      expect(response).toMatchObject({ status: 415, code: 'request.unsupported_type' });
    }
  });

  it.each(['application/vnd.api+json', 'application/json;charset="UTF-8"', 'APPLICATION/JSON'])(
    'B06 %s is read as JSON',
    async (type) => {
      const headers = { 'content-type': type };
      expect(await post('/api/auth/rotate', { body: '{"tier":"root"}', headers })).toMatchObject({
        status: 422,
        code: 'request.invalid',
      });
    },
  );

  it.each(['gzip', 'br', 'deflate', 'zstd'])(
    'B07 a body that is not %s, as it says, is 400',
    async (coding) => {
      const headers = { ...JSON_TYPE, 'content-encoding': coding };
      for (const path of ['/api/auth/login', '/api/memory', '/v1/chat/completions']) {
        const response = await post(path, { body: '{}', headers });
        expect(response, path).toMatchObject({ status: 400, code: 'request.malformed' });
      }
      const audio = await post('/v1/audio/transcriptions', { body: '{}', headers });
      expect(audio).toMatchObject({ status: 415, code: 'request.unsupported_type' });
      expect(audio.headers['accept-encoding']).toBe('identity');
    },
  );

  it('B07 a coded body is read on /api', async () => {
    const body = gzipSync('{"tier":"root"}');
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    expect(await post('/api/auth/rotate', { body, headers })).toMatchObject({
      status: 422,
      code: 'request.invalid',
    });
  });

  it.each(['gzip, gzip', 'identity, gzip', 'compress', 'a-miracle', ''])(
    'B07 the content coding %j is 415 on /api and /v1',
    async (coding) => {
      const headers = { ...JSON_TYPE, 'content-encoding': coding };
      for (const path of [
        '/api/auth/login',
        '/api/memory',
        '/v1/chat/completions',
        '/v1/audio/transcriptions',
      ]) {
        const response = await post(path, { body: '{}', headers });
        expect(response, path).toMatchObject({ status: 415, code: 'request.unsupported_type' });
      }
    },
  );

  it('B07 identity counts as no coding', async () => {
    const headers = { ...JSON_TYPE, 'content-encoding': 'identity' };
    expect((await post('/api/auth/login', { body: { key: 'x' }, headers })).status).toBe(401);
  });
});

describe('empty bodies', () => {
  it('rotate accepts an empty chunked body without a type, and rejects one with content', async () => {
    const chunked = (body: string) =>
      `POST /api/auth/rotate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${currentKey()}\r\n` +
      `transfer-encoding: chunked\r\nconnection: close\r\n\r\n${body}0\r\n\r\n`;
    expect(parseRaw(await rawExchange(gateway, chunked('2\r\n{}\r\n')))).toMatchObject({
      status: 415,
      code: 'request.unsupported_type',
    });
    expect(parseRaw(await rawExchange(gateway, chunked('')))).toMatchObject({ status: 200 });
  });

  it('rotate treats a missing or empty body as tier admin, chunked or not', async () => {
    const chunked =
      `POST /api/auth/rotate HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${currentKey()}\r\n` +
      'content-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n0\r\n\r\n';
    expect(parseRaw(await rawExchange(gateway, chunked))).toMatchObject({ status: 200 });
    const empty = await send(gateway, 'POST', '/api/auth/rotate', {
      key: currentKey(),
      body: '',
      headers: JSON_TYPE,
    });
    expect(empty.json()).toMatchObject({ tier: 'admin' });
  });
});
