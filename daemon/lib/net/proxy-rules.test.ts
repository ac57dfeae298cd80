import { describe, expect, test } from 'vitest';
import { proxyRules } from './proxy-rules.ts';

const rules = (env: Record<string, string>) => proxyRules((name) => env[name]);
const P = 'http://proxy.lan:3128';
const S = 'http://other.lan:8080';

describe('the proxy of an address', () => {
  test.each<[string, Record<string, string>, string | null]>([
    ['https://hub.example', { HTTPS_PROXY: P }, P],
    ['https://hub.example', { https_proxy: P, HTTPS_PROXY: S }, P],
    ['http://hub.example', { HTTPS_PROXY: P }, null],
    ['http://hub.example', { HTTP_PROXY: P }, P],
    ['http://hub.example', { http_proxy: P }, P],
    ['https://hub.example', { HTTP_PROXY: P }, null],
    ['https://hub.example', { ALL_PROXY: P }, P],
    ['http://hub.example', { all_proxy: P }, P],
    ['https://hub.example', { ALL_PROXY: S, HTTPS_PROXY: P }, P],
    ['https://hub.example', { HTTPS_PROXY: 'proxy.lan:3128' }, P],
    ['https://hub.example', { HTTPS_PROXY: '  ', ALL_PROXY: P }, P],
    ['https://hub.example', { HTTPS_PROXY: 'socks5://proxy.lan:1080' }, 'socks5://proxy.lan:1080'],
    ['https://hub.example', { HTTPS_PROXY: 'http://me:secret@proxy.lan' }, 'http://me:secret@proxy.lan'],
    ['https://hub.example', { ALL_PROXY: 'socks5h://127.0.0.1:9050' }, 'socks5://127.0.0.1:9050'],
    ['https://hub.example', { HTTPS_PROXY: 'http://me:50%@proxy.lan' }, 'http://me:50%25@proxy.lan/'],
    [
      'https://hub.example',
      { HTTPS_PROXY: 'http://m%FFe:50%25@proxy.lan' },
      'http://m%25FFe:50%2525@proxy.lan/',
    ],
    ['http://10.0.0.7:8000', { HTTP_PROXY: P }, P],
    ['http://127.0.0.1:8000', { HTTP_PROXY: P }, null],
    ['http://127.9.9.9', { ALL_PROXY: P }, null],
    ['http://localhost:11434', { HTTP_PROXY: P }, null],
    ['http://[::1]:8000', { HTTP_PROXY: P }, null],
  ])('%s with %j', (origin, env, proxy) => expect(rules(env)?.proxyFor(origin)).toBe(proxy));
});

describe('NO_PROXY', () => {
  test.each([
    ['hub.example', 'https://hub.example', true],
    ['.example', 'https://hub.example', true],
    ['*.example', 'https://hub.example', true],
    ['example', 'https://hub.example', true],
    ['example', 'https://hub-example', false],
    ['ub.example', 'https://hub.example', false],
    ['HUB.Example', 'https://hub.example', true],
    ['hub.example:443', 'https://hub.example', true],
    ['hub.example:8443', 'https://hub.example', false],
    ['hub.example:8443', 'https://hub.example:8443', true],
    ['other.example, hub.example', 'https://hub.example', true],
    ['other.example hub.example', 'https://hub.example', true],
    ['*', 'https://hub.example', true],
    ['10.0.0.0/8', 'https://10.1.2.3:8000', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['192.168.1.4', 'https://192.168.1.4:8000', true],
    ['192.168.1.4', 'https://192.168.1.40', false],
    ['[fd00::1]:8000', 'https://[fd00::1]:8000', true],
    ['fd00::/8', 'https://[fd12::1]', true],
    ['', 'https://hub.example', false],
    [',,', 'https://hub.example', false],
  ])('%j leaves out %s: %s', (exceptions, origin, isDirect) => {
    const env = { HTTPS_PROXY: P, NO_PROXY: exceptions };
    expect(rules(env)?.proxyFor(origin)).toBe(isDirect ? null : P);
  });
});

test('no variable, no rules', () => {
  expect(rules({})).toBeNull();
  expect(rules({ NO_PROXY: '*' })).toBeNull();
  expect(rules({ HTTPS_PROXY: '' })).toBeNull();
});

test.each(['ftp://proxy.lan', 'http://', 'http://a b', 'file:///x', '://', 'socks4://proxy.lan'])(
  '%j is named without its value, and not used',
  (value) => {
    const found = rules({ HTTPS_PROXY: value });
    expect(found?.proxyFor('https://hub.example')).toBeNull();
    expect(found?.problems).toEqual([expect.stringMatching(/^HTTPS_PROXY is not the address of a proxy/)]);
  },
);
