import { describe, expect, test } from 'vitest';
import { hubHop, nextHop, RefusedHop } from './hop.ts';

const endpoint = { url: 'https://hub.example/mirror', token: 'hf_x' };
const start = hubHop(endpoint, '/owner/name/resolve/main/x');

describe('DL06 a redirect', () => {
  test.each([
    ['https://cdn.example/x?sig=1', 'https://cdn.example/x?sig=1', false],
    ['/mirror/other', 'https://hub.example/mirror/other', true],
    ['other', 'https://hub.example/mirror/owner/name/resolve/main/other', true],
    ['https://HUB.example:443/x', 'https://hub.example/x', true],
    ['https://hub.example:444/x', 'https://hub.example:444/x', false],
    ['https://hub.example.evil.example/x', 'https://hub.example.evil.example/x', false],
  ])('to %s is followed', (location, url, own) => {
    const hop = nextHop(endpoint, start, location);
    expect([hop.url.href, hop.own]).toEqual([url, own]);
  });

  test.each([
    undefined,
    'http://cdn.example/x',
    'http://hub.example/x',
    'file:///etc/passwd',
    'ftp://cdn.example/x',
    'javascript:1',
    'https://user:pass@cdn.example/x',
    'https://',
  ])('to %s is not', (location) => expect(() => nextHop(endpoint, start, location)).toThrow(RefusedHop));

  test('plain HTTP is only allowed within a hub that uses it', () => {
    const plain = { url: 'http://10.0.0.5:8080', token: null };
    const from = hubHop(plain, '/x');
    expect(nextHop(plain, from, 'http://10.0.0.5:8080/y').own).toBe(true);
    expect(() => nextHop(plain, from, 'http://10.0.0.5:9090/y')).toThrow(RefusedHop);
    expect(() => nextHop(plain, from, 'http://10.0.0.6:8080/y')).toThrow(RefusedHop);
  });

  test('does not send the token back to the hub after a detour', () => {
    const other = nextHop(endpoint, start, 'https://cdn.example/x');
    expect(nextHop(endpoint, other, '/y')).toMatchObject({ own: false });
  });
});

describe('a redirect to the storage of a mirror', () => {
  const mirror = { url: 'http://nas.lan:8090', token: 'hf_x', storageHosts: ['minio.lan:9000', '10.0.0.9'] };
  const from = hubHop(mirror, '/owner/name/resolve/main/x');

  test.each([
    ['http://minio.lan:9000/bucket/x', true],
    ['https://minio.lan:9000/bucket/x', true],
    ['http://MINIO.lan:9000/x', true],
    ['http://10.0.0.9/x', true],
    ['http://10.0.0.9:1234/x', true],
    ['https://cdn.example/x', false],
  ])('to %s is followed, without the token', (location, isStorage) => {
    const hop = nextHop(mirror, from, location);
    expect([hop.own, hop.isStorage ?? false]).toEqual([false, isStorage]);
  });

  test.each([
    'http://minio.lan/x',
    'http://minio.lan:9001/x',
    'http://evil.minio.lan:9000/x',
    'http://10.0.0.90/x',
    'ftp://minio.lan:9000/x',
    'http://user:pass@minio.lan:9000/x',
  ])('to %s is not', (location) => expect(() => nextHop(mirror, from, location)).toThrow(RefusedHop));

  test('a storage is not trusted further', () => {
    const storage = nextHop(mirror, from, 'http://minio.lan:9000/x');
    expect(() => nextHop(mirror, storage, 'http://192.168.1.1/x')).toThrow(RefusedHop);
    expect(nextHop(mirror, storage, '/y')).toMatchObject({ own: false, isStorage: true });
  });
});
