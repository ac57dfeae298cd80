import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callerHeaders, decodeName, encodeName, engineHeaders, headerText } from './headers.ts';

const own = { authorization: 'Bearer engine-key' };
const towards = (incoming: Record<string, string>) => {
  const flat = engineHeaders({ incoming, ownHeaders: own, requestId: 'r1' });
  return Object.fromEntries(
    flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]]] : [])),
  );
};

test('only accept and content-type of the caller reach an engine', () => {
  const incoming = {
    accept: 'text/event-stream',
    'content-type': 'application/json',
    authorization: 'Bearer caller',
    cookie: 'svc_session=x',
    origin: 'http://evil',
    referer: 'http://evil/p',
    'x-svc-priority': 'batch',
    'x-svc-model-filter': 'a',
    'x-api-key': 'k',
    'x-forwarded-for': '1.2.3.4',
    forwarded: 'for=1.2.3.4',
    host: 'gateway',
    'content-length': '5',
    'transfer-encoding': 'chunked',
    te: 'trailers',
    trailer: 'x',
    upgrade: 'h2c',
    expect: '100-continue',
    'keep-alive': 'x',
    'proxy-authorization': 'x',
    'accept-encoding': 'gzip',
    'x-request-id': 'theirs',
  };
  expect(towards(incoming)).toEqual({
    'accept-encoding': 'identity',
    'x-request-id': 'r1',
    accept: 'text/event-stream',
    'content-type': 'application/json',
    authorization: 'Bearer engine-key',
  });
});

test('no other header passes, for any set of names', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.stringMatching(/^[a-z][a-z-]{0,20}$/), fc.constant('canary')),
      (incoming) => {
        const passed = Object.keys(towards(incoming));
        const allowed = ['accept-encoding', 'x-request-id', 'accept', 'content-type', 'authorization'];
        expect(passed.every((name) => allowed.includes(name))).toBe(true);
      },
    ),
  );
});

test('names in Connection are hop-by-hop, both ways', () => {
  expect(towards({ accept: 'a', 'content-type': 'b', connection: 'close, Accept' })).not.toHaveProperty(
    'accept',
  );
  expect(callerHeaders({ connection: 'Retry-After', 'retry-after': '1', 'content-type': 'a' })).toEqual({
    'content-type': 'a',
  });
});

test('an engine cannot set cookies, CORS, auth or framing on the caller', () => {
  expect(
    callerHeaders({
      'set-cookie': ['a=b'],
      'access-control-allow-origin': '*',
      'www-authenticate': 'Basic',
      authorization: 'Bearer x',
      server: 'llama.cpp',
      connection: 'x-secret',
      'x-secret': 's',
      'transfer-encoding': 'chunked',
      upgrade: 'h2c',
      location: 'http://a',
      'content-type': 'text/event-stream',
      'retry-after': '3',
    }),
  ).toEqual({ 'content-type': 'text/event-stream', 'retry-after': '3' });
});

test('header text is printable and short', () => {
  expect(headerText('modèle\r\nx: y')).toBe('mod?le??x: y');
  expect(headerText('a'.repeat(500))).toHaveLength(200);
});

test.each([
  ['tiny', 'tiny'],
  ['org/model:7b', 'org/model:7b'],
  ['模型一', "UTF-8''%E6%A8%A1%E5%9E%8B%E4%B8%80"],
  ['Modèle', "UTF-8''Mod%C3%A8le"],
  ['a%20b', 'a%20b'],
  ['a\r\nb', "UTF-8''a%0D%0Ab"],
  ['\ud800', "UTF-8''%EF%BF%BD"],
])('the name %j is sent as %s', (name, value) => {
  expect(encodeName(name)).toBe(value);
  expect(decodeName(value)).toBe(name.toWellFormed());
});

test('any name of a usual length is read back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (name) => {
      const value = encodeName(name);
      expect(value).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeName(value)).toBe(name);
    }),
    { numRuns: 300 },
  );
  for (const broken of ["UTF-8''%", "UTF-8''%E6", 'plain']) expect(decodeName(broken)).toBe(broken);
});
