import { describe, expect, it } from 'vitest';
import { bearerKey, queryKey, readCredentials, subprotocolKey } from './credentials.ts';

const offered = (rawHeaders: string[], url = '/v1/models', upgrade = false) =>
  readCredentials({ rawHeaders, url, upgrade });

describe('credentials', () => {
  it('T05 the scheme is read in any case, followed by spaces or tabs', () => {
    for (const header of ['Bearer k', 'bearer k', 'BEARER k', 'Bearer  k', 'Bearer\tk', 'bEaReR \t k'])
      expect(bearerKey(header)).toBe('k');
    for (const header of [
      'Bearer',
      'Bearer ',
      'Bearer \t',
      'BearerX k',
      'Bearerk',
      'Basic k',
      'Digest k',
      'Token k',
      '',
      'k',
      ' Bearer k',
      'Bearer\u00a0k',
      'Bear',
    ]) {
      expect(bearerKey(header)).toBeNull();
    }
  });

  it('T05 a list of credentials is one invalid value, and only the first of two headers counts', () => {
    expect(bearerKey('Bearer a, Bearer b')).toBe('a, Bearer b');
    expect(offered(['Authorization', 'Bearer a', 'authorization', 'Bearer b']).bearer).toBe('a');
    expect(offered(['Authorization', 'Basic x', 'Authorization', 'Bearer b']).bearer).toBeNull();
    expect(offered(['Authorization', '', 'Authorization', 'Bearer b']).bearer).toBeNull();
  });

  it('T08 an empty api_key is not a key and hides a later one', () => {
    expect(queryKey('/x?api_key=')).toBeNull();
    expect(queryKey('/x?api_key=&api_key=k')).toBeNull();
    expect(queryKey('/x?api_key')).toBeNull();
  });

  it('finds the first api_key anywhere in the query', () => {
    expect(queryKey('/x?api_key=a&api_key=b')).toBe('a');
    expect(queryKey('/x?y=1&api_key=a&z')).toBe('a');
    expect(queryKey('/?api_key=a')).toBe('a');
    expect(queryKey('http://h/x?api_key=a#api_key=b')).toBe('a');
    for (const url of [
      '/x',
      '/api_key=a',
      '/x&api_key=a',
      'api_key=a',
      '/x?',
      '/x?xapi_key=a',
      '/x?API_KEY=a',
      '/x?api%5Fkey=a',
      '/x#?api_key=a',
      '/x?y=api_key=a',
      '/x?y#&api_key=a',
    ]) {
      expect(queryKey(url)).toBeNull();
    }
  });

  it('T11 percent-encoding is decoded, a plus stays a plus, malformed escapes are not keys', () => {
    expect(queryKey(`/x?api_key=${encodeURIComponent('a+b/c=d%e é 日')}`)).toBe('a+b/c=d%e é 日');
    expect(queryKey('/x?api_key=a+b/c=')).toBe('a+b/c=');
    for (const text of ['%', '%zz', '%ff', 'a%2']) expect(queryKey(`/x?api_key=${text}`)).toBeNull();
  });

  it('T11 header bytes are decoded like those of the file and the query', () => {
    expect(bearerKey(`Bearer ${Buffer.from('ключ').toString('latin1')}`)).toBe('ключ');
  });

  it('T13 oversized credentials are ignored', () => {
    expect(bearerKey(`Bearer ${'k'.repeat(4096)}`)).toHaveLength(4096);
    expect(bearerKey(`Bearer ${'k'.repeat(4097)}`)).toBeNull();
    expect(queryKey(`/x?api_key=${'k'.repeat(1 << 20)}`)).toBeNull();
    expect(queryKey(`/x?api_key=${'k'.repeat(4097)}`)).toBeNull();
    expect(subprotocolKey(`openai-insecure-api-key.${'k'.repeat(4097)}`)).toBeNull();
    expect(subprotocolKey('openai-insecure-api-key.k, '.repeat(2_000))).toBeNull();
  });

  it('T13 padded credentials, and those that decode to a short key, are ignored', () => {
    const padded = (length: number) => `Bearer${'k'.padStart(length - 6)}`;
    expect([bearerKey(padded(4096 + 64)), bearerKey(padded(4096 + 65))]).toEqual(['k', null]);
    expect(queryKey(`/x?api_key=${'%6b'.repeat(4096)}`)).toHaveLength(4096);
    expect(queryKey(`/x?api_key=${encodeURIComponent('😀'.repeat(1025))}`)).toBeNull();
    const listed = (length: number) => 'openai-insecure-api-key.k,'.padEnd(length, 'x');
    expect([subprotocolKey(listed(8192)), subprotocolKey(listed(8193))]).toEqual(['k', null]);
  });

  it('a header name without a value is not a credential', () => {
    expect(offered(['Host', 'h', 'Authorization']).bearer).toBeNull();
  });

  it('T13 carriers that the specification does not name are ignored', () => {
    const raw = [
      'x-api-key',
      'k',
      'api-key',
      'k',
      'Proxy-Authorization',
      'Bearer k',
      'Sec-WebSocket-Protocol',
      'openai-insecure-api-key.k',
    ];
    const carriers = { cookies: [], bearer: null, apiKey: null, subprotocol: null, xApiKey: null };
    const nothing = { ...carriers, unreadXApiKey: true };
    expect(offered(raw)).toEqual(nothing);
    expect(offered(raw, '/v1/realtime', false)).toEqual(nothing);
    expect(offered(raw, '/v1/models', true)).toEqual(nothing);
    expect(offered(raw, '/v1/realtimex', true)).toEqual(nothing);
    expect(offered(raw, '/v1/realtime/', true)).toEqual(nothing);
  });

  it.each([
    ['/v1/messages', 'k'],
    ['/v1/messages?beta=true', 'k'],
    ['/v1/messages/count_tokens', 'k'],
    ['/v1/messages/count_tokens?beta=true', 'k'],
    ['/v1/messages#x', 'k'],
    ['/v1/messagesx', null],
    ['/v1/message', null],
    ['/V1/messages', null],
    ['/v1/chat/completions?x=/v1/messages', null],
    ['/api/slots#/v1/messages', null],
    ['/', null],
  ])('x-api-key on %s is %j', (url, key) => {
    expect(offered(['X-Api-Key', 'k'], url)).toMatchObject({ xApiKey: key, unreadXApiKey: key === null });
  });

  it.each([
    ['the first value', ['x-api-key', 'one', 'x-api-key', 'two'], 'one'],
    ['an empty first value', ['x-api-key', '', 'x-api-key', 'two'], null],
    ['a value of 4,096 characters', ['x-api-key', 'k'.repeat(4096)], 'k'.repeat(4096)],
    ['an oversized value', ['x-api-key', 'k'.repeat(4097)], null],
    ['bytes of UTF-8', ['x-api-key', Buffer.from('ключ').toString('latin1')], 'ключ'],
  ])('x-api-key: %s', (_, raw, key) => {
    expect(offered(raw, '/v1/messages')).toMatchObject({ xApiKey: key, unreadXApiKey: false });
  });

  it('reads the subprotocol on an upgrade of the realtime route only', () => {
    const raw = ['Sec-WebSocket-Protocol', 'realtime, openai-insecure-api-key.K1,openai-insecure-api-key.K2'];
    for (const url of ['/v1/realtime', '/v1/realtime?model=m', '/v1/realtime#x'])
      expect(offered(raw, url, true).subprotocol).toBe('K1');
    expect(subprotocolKey('realtime')).toBeNull();
    expect(subprotocolKey('openai-insecure-api-key.')).toBeNull();
    expect(subprotocolKey('x-openai-insecure-api-key.k')).toBeNull();
  });

  it('reads each credential from its carrier', () => {
    const raw = ['Host', 'h', 'COOKIE', 'svc_session=c', 'AUTHORIZATION', 'Bearer b', 'Accept', '*'];
    expect(offered(raw, '/x?api_key=q')).toEqual({
      cookies: ['c'],
      bearer: 'b',
      apiKey: 'q',
      subprotocol: null,
      xApiKey: null,
      unreadXApiKey: false,
    });
    expect(offered(['Cookie', 'a=b', 'Cookie', 'svc_session=c']).cookies).toEqual(['c']);
    const two = ['Cookie', 'svc_session=c', 'Cookie', 'a=b', 'Cookie', 'svc_session=d'];
    expect(offered(two).cookies).toEqual(['c', 'd']);
    const pairs = [
      'Cookie',
      'svc_session=1; svc_session=2',
      'Cookie',
      'svc_session=3; svc_session=4; svc_session=5',
    ];
    expect(offered([...pairs, 'Cookie', 'svc_session=6']).cookies).toEqual(['1', '2', '3', '4']);
    const protocols = [
      'Sec-WebSocket-Protocol',
      'openai-insecure-api-key.k',
      'Sec-WebSocket-Protocol',
      'realtime',
    ];
    expect(offered(protocols, '/v1/realtime', true).subprotocol).toBe('k');
    expect(offered([])).toEqual({
      cookies: [],
      bearer: null,
      apiKey: null,
      subprotocol: null,
      xApiKey: null,
      unreadXApiKey: false,
    });
  });
});
