import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../contract/errors.ts';
import { checkFraming, checkNoUpgradeBody } from './framing.ts';

const refused = (method: string, url: string, headers: string[]) => {
  try {
    checkFraming(method, url, headers);
    return null;
  } catch (error) {
    const { code, message } = error as GatewayError;
    return [code, message];
  }
};

describe('checkFraming', () => {
  it('splits a proper request', () => {
    expect(checkFraming('GET', '/a?b', ['Host', 'h:1'])).toEqual({ path: '/a', query: 'b', authority: null });
  });

  it.each([
    ['no Host', 'GET', '/a', [], 'Host header is missing'],
    ['two Host headers', 'GET', '/a', ['Host', 'a', 'host', 'a'], 'more than one Host'],
    ['an absolute target of another host', 'GET', 'http://b/a', ['Host', 'a'], 'different hosts'],
    ['a target without a slash', 'GET', 'a', ['Host', 'a'], 'request target is malformed'],
    ['* with GET', 'GET', '*', ['Host', 'a'], 'request target is malformed'],
  ])('refuses %s', (_name, method, url, headers, why) =>
    expect(refused(method, url, headers)).toEqual(['request.malformed', expect.stringContaining(why)]),
  );

  it('C12 accepts an absolute target of the same host', () => {
    expect(checkFraming('GET', 'http://A:80/x', ['Host', ' a:80 ']).path).toBe('/x');
  });

  it('accepts OPTIONS *', () => expect(refused('OPTIONS', '*', ['Host', 'a'])).toBeNull());
});

describe('checkNoUpgradeBody', () => {
  it.each([{}, { 'content-length': '0' }, { 'content-length': '000' }, { upgrade: 'websocket' }])(
    'accepts %j',
    (headers) => expect(() => checkNoUpgradeBody(headers)).not.toThrow(),
  );
  it.each([
    { 'content-length': '3' },
    { 'transfer-encoding': 'chunked' },
    { 'transfer-encoding': 'gzip, chunked' },
    { 'content-length': '0', 'transfer-encoding': 'chunked' },
    { 'content-length': 'x' },
    { 'content-length': '99999999999999999999' },
  ])('refuses %j', (headers) =>
    expect(() => checkNoUpgradeBody(headers)).toThrow(
      expect.objectContaining({ code: 'request.upgrade_body', status: 400 }),
    ),
  );
});
