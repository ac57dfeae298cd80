import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { type BaseUrl, parseBaseUrl } from './base-url.ts';
import { isOwnAddress } from './self.ts';

const addresses = () => new Set(['192.168.1.5', '127.0.0.1']);

it.each([
  ['http://127.0.0.1:8080/v1', '127.0.0.1', true],
  ['http://localhost:8080', '127.0.0.1', true],
  ['http://127.0.0.1:8081', '127.0.0.1', false],
  ['https://127.0.0.1:8080', '127.0.0.1', false],
  ['http://192.168.1.5:8080', '0.0.0.0', true],
  ['http://[::ffff:192.168.1.5]:8080', '::', true],
  ['http://127.0.0.1:8080', '0.0.0.0', true],
  ['http://127.0.0.1:8080', '::0', true],
  ['http://192.168.1.6:8080', '0.0.0.0', false],
  ['http://192.168.1.5:8080', '127.0.0.1', false],
  ['http://192.168.1.5:8080', '192.168.1.5', true],
  ['http://127.0.0.1:8080', '192.168.1.5', false],
  [`http://${hostname().split('.')[0]?.toLowerCase()}:8080`, '0.0.0.0', true],
])('%s, bound to %s: %s', (text, bindHost, expected) => {
  const at = parseBaseUrl(text) as BaseUrl;
  expect(isOwnAddress(at, { bindHost, port: 8080 }, addresses)).toBe(expected);
});
