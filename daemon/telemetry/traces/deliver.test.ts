import { afterAll, beforeAll, expect, test } from 'vitest';
import { Outbound } from '../../lib/net/outbound.ts';
import { json, type StandIn, standIn } from '../../test/harness/stand-in.ts';
import { collectorOf } from './collector.ts';
import { deliverSpans } from './deliver.ts';
import { SPAN_KIND, type Span } from './span.ts';

let server: StandIn;
const outbound = new Outbound({ connectMs: () => 2_000 });
beforeAll(async () => {
  server = await standIn(() => json(200, {}));
});
afterAll(async () => {
  await outbound.close();
  await server.stop();
});

const span: Span = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentSpanId: '',
  name: 'x',
  kind: SPAN_KIND.server,
  startMs: 1,
  endMs: 2,
  attributes: {},
  failed: false,
};
const send = (endpoint = `${server.url}/base/`, limitMs = 5_000) => {
  const to = collectorOf(endpoint, 'Authorization=Bearer%20t1,x-tenant= home ,host=evil,content-length=9');
  if (to === null) throw new Error('no collector');
  return deliverSpans(outbound, to, { serviceName: 's', version: '1' }, [span], limitMs);
};

test("appends to the endpoint's path and sends the configured headers except framing ones", async () => {
  expect(await send()).toEqual({ kind: 'taken', rejected: 0 });
  const [delivery] = server.requests;
  expect(delivery).toMatchObject({ method: 'POST', url: '/base/v1/traces' });
  expect(delivery?.headers).toMatchObject({
    authorization: 'Bearer t1',
    'x-tenant': 'home',
    host: `127.0.0.1:${server.port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(delivery?.body ?? '')),
  });
});

test.each<[string, number, Record<string, string>, object]>([
  ['accepted in part', 200, {}, { kind: 'taken', rejected: 1 }],
  ['busy', 429, { 'retry-after': '7' }, { kind: 'again', afterMs: 7_000 }],
  ['busy without a time', 503, {}, { kind: 'again', afterMs: null }],
  ['busy until a date', 503, { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, { afterMs: null }],
  ['behind a broken proxy', 502, {}, { kind: 'again' }],
  ['refusing the request', 400, {}, { kind: 'refused', reason: 'it answered with status 400' }],
  ['elsewhere', 307, { location: 'http://127.0.0.1:1/' }, { kind: 'refused' }],
  ['locked', 401, {}, { kind: 'refused' }],
])('a collector that is %s', async (_, status, headers, expected) => {
  server.respondWith(() => json(status, { partialSuccess: { rejectedSpans: '1' } }, headers));
  expect(await send()).toMatchObject(expected);
});

test('does not buffer an endless reply, and ends at the time limit', async () => {
  server.respondWith(() => (_req, res) => void res.writeHead(200).end('x'.repeat(1_000_000)));
  expect(await send()).toEqual({ kind: 'taken', rejected: 0 });
  server.respondWith(() => () => {});
  expect(await send(undefined, 50)).toMatchObject({ kind: 'again' });
});

test('reports an unreachable collector as temporary, without its address', async () => {
  const { port } = server;
  await server.stop();
  const delivery = await send(`http://127.0.0.1:${port}`);
  await server.start();
  expect(delivery).toMatchObject({ kind: 'again', reason: 'it cannot be reached (ECONNREFUSED)' });
});

test('sends nothing to a forbidden address', async () => {
  expect(await send('http://169.254.169.254')).toMatchObject({ kind: 'again' });
});
