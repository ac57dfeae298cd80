import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { post, readAll, send, until } from '../testing/client.ts';
import { CHAT, closeAfterEach, delta, hello, SSE, startWithManualEngine } from '../testing/forwarding.ts';

closeAfterEach();

describe('a client disconnect', () => {
  const phases: [string, (res: ServerResponse) => void, object][] = [
    ['before the head', () => {}, { ...hello, stream: true }],
    ['before the head of a complete response', () => {}, hello],
    ['after the head', (res) => res.writeHead(200, SSE).flushHeaders(), { ...hello, stream: true }],
    ['mid-stream', (res) => res.writeHead(200, SSE).write(delta('a')), { ...hello, stream: true }],
    [
      'mid-body',
      (res) => res.writeHead(200, { 'content-type': 'application/json' }).write(`[${'1,'.repeat(500)}`),
      hello,
    ],
  ];
  test.each(phases)('%s: the engine connection is closed within 250 ms', async (_, respond, body) => {
    const { gateway, responses, engine, slots } = await startWithManualEngine();
    const { req } = send(gateway.origin, CHAT, JSON.stringify(body));
    req.on('error', () => {});
    await until(() => responses.length === 1);
    respond(responses[0] as ServerResponse);
    await until(() => gateway.inference.running().length === 1);
    await new Promise(setImmediate);
    req.destroy();
    const elapsedMs = await until(() => engine.sockets.size === 0);
    expect(elapsedMs).toBeLessThan(250);
    await until(() => slots.released === 1 && gateway.log.length === 1);
    expect(gateway.log[0]).toMatchObject({ status: 499, error: 'client_closed' });
    expect(gateway.inference.running()).toEqual([]);
  });

  test('while waiting for a slot: ends the wait', async () => {
    let reason: unknown;
    const { gateway, slots } = await startWithManualEngine();
    slots.before = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason);
        });
      });
    const { req } = send(gateway.origin, CHAT, JSON.stringify(hello));
    req.on('error', () => {});
    await until(() => slots.requests.length === 1);
    req.destroy();
    expect(await until(() => reason !== undefined)).toBeLessThan(250);
    await until(() => gateway.log.length === 1);
    expect(gateway.log[0]).toMatchObject({ status: 499 });
    expect(slots.leased).toBe(0);
  });

  test('sixteen of sixteen', async () => {
    const { gateway, responses, engine, slots } = await startWithManualEngine();
    const requests = Array.from({ length: 16 }, () =>
      send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true })),
    );
    await until(() => responses.length === 16);
    for (const res of responses) res.writeHead(200, SSE).write(delta('a'));
    for (const { req, head } of requests) {
      await head;
      req.on('error', () => {});
      req.destroy();
    }
    expect(await until(() => engine.sockets.size === 0)).toBeLessThan(250);
    await until(() => slots.released === 16);
  });
});

describe('other ends of a call', () => {
  test('cancel before the head is an envelope, in a stream an error event', async () => {
    const { gateway, responses, engine } = await startWithManualEngine();
    const first = send(gateway.origin, CHAT, JSON.stringify(hello));
    await until(() => responses.length === 1);
    expect(gateway.inference.cancel('r1')).toBe(true);
    const refused = await readAll(await first.head);
    expect(refused.status).toBe(503);
    expect(refused.headers['x-should-retry']).toBe('false');
    expect(refused.body).toContain('"request.cancelled"');
    await until(() => engine.sockets.size === 0);
    const second = send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    await until(() => responses.length === 2);
    responses[1]?.writeHead(200, SSE).write(delta('a'));
    const res = await second.head;
    gateway.inference.cancel('r2');
    expect((await readAll(res)).body).toMatch(/data: \{"error":\{"code":"request\.cancelled"/);
  });

  test('stop ends streams with gateway.stopping and a complete body, and refuses new calls', async () => {
    const { gateway, responses } = await startWithManualEngine();
    const { head } = send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200, SSE).write(delta('a'));
    const res = await head;
    await gateway.inference.stop();
    const { body, whole } = await readAll(res);
    expect(body).toMatch(/data: \{"error":\{"code":"gateway\.stopping"/);
    expect(whole).toBe(true);
    const refused = await post(gateway.origin, CHAT, hello);
    expect(refused).toMatchObject({ status: 503 });
    expect(refused.headers['retry-after']).toBe('5');
  });

  test('the total limit, when one is set', async () => {
    const { gateway } = await startWithManualEngine({ settings: { totalTimeoutS: 0.2 } });
    expect(await post(gateway.origin, CHAT, hello)).toMatchObject({ status: 504 });
  });
});
