import { expect, test } from 'vitest';
import type { OutboundHandler, OutboundRequest } from '../../lib/net/outbound.ts';
import { RefusedHop } from './hop.ts';
import { requestHub } from './hub-exchange.ts';

const ENDPOINT = { url: 'https://hub.example/mirror', token: 'hf_secret' };

/** An opener that responds from a table, without network access. */
function opener(table: Record<string, { status: number; location?: string; body?: string }>) {
  const requests: OutboundRequest[] = [];
  const dispatch = (request: OutboundRequest, handler: OutboundHandler) => {
    requests.push(request);
    const found = table[`${request.origin}${request.path}`] ?? { status: 404 };
    const controller = { abort: () => {}, pause: () => {}, resume: () => {} };
    handler.onRequestStart?.(controller as never, null);
    const headers = found.location === undefined ? {} : { location: found.location };
    handler.onResponseStart?.(controller as never, found.status, headers, '');
    handler.onResponseData?.(controller as never, Buffer.from(found.body ?? ''));
    handler.onResponseEnd?.(controller as never, {});
  };
  const request = (path: string) =>
    requestHub({
      outbound: { dispatch },
      endpoint: ENDPOINT,
      path,
      headers: { range: 'bytes=5-' },
      idleMs: 1000,
      signal: new AbortController().signal,
    });
  return { request, requests };
}
const bearer = (request: OutboundRequest | undefined) => request?.headers.includes('Bearer hf_secret');

test('DL06 DL08 sends the token only to the hub and requires public addresses elsewhere', async () => {
  const { request, requests } = opener({
    'https://hub.example/mirror/x': { status: 302, location: '/elsewhere' },
    'https://hub.example/elsewhere': { status: 307, location: 'https://cdn.example/x?sig=1' },
    'https://cdn.example/x?sig=1': { status: 200, body: 'bytes' },
  });
  const answer = await request('/x');
  expect([answer.status, answer.url]).toEqual([200, 'https://cdn.example/x?sig=1']);
  expect(requests.map((request) => [bearer(request), request.publicOnly])).toEqual([
    [true, false],
    [true, false],
    [false, true],
  ]);
  expect(requests.every(({ headers }) => headers.includes('bytes=5-'))).toBe(true);
  expect(requests.at(-1)?.headers.join(' ')).not.toContain('hf_');
  const pieces: Buffer[] = [];
  for await (const piece of answer.body) pieces.push(piece as Buffer);
  expect(Buffer.concat(pieces).toString()).toBe('bytes');
});

test('gives up on an endless redirect chain', async () => {
  const { request, requests } = opener({
    'https://hub.example/mirror/x': { status: 302, location: '/mirror/x' },
  });
  await expect(request('/x')).rejects.toThrow(RefusedHop);
  expect(requests.length).toBeLessThan(10);
});

test('a path cannot lead out of the hub', async () => {
  const { request, requests } = opener({});
  await expect(
    requestHub({
      outbound: { dispatch: () => expect.unreachable() },
      endpoint: { url: 'https://hub.example', token: null },
      path: '@evil.example/x',
      headers: {},
      idleMs: 1,
      signal: new AbortController().signal,
    }),
  ).rejects.toThrow(RefusedHop);
  await expect(request('/none')).resolves.toMatchObject({ status: 404 });
  expect(requests).toHaveLength(1);
});
