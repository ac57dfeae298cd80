/** Group S of the catalogue: client disconnects, engines that die, slow readers; the forwarder in front of a real server. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { slotRecord } from '../contract/testing/slot-record.ts';
import { MAX_LINE_BYTES } from '../inference/forward/line-cap.ts';
import { post, readAll, send, until } from '../inference/testing/client.ts';
import { BODIES, JSON_TYPE, MESSAGES, RESPONSES } from '../inference/testing/dialects.ts';
import {
  CHAT,
  closeAfterEach,
  delta,
  hello,
  SSE,
  setUp,
  startWithManualEngine,
} from '../inference/testing/forwarding.ts';
import { StreamingEngine } from '../inference/testing/streaming-engine.ts';
import { scale } from './harness/scale.ts';

closeAfterEach();

describe('S01 client disconnect', () => {
  const PHASES: Record<string, { stream: boolean; play(res: ServerResponse): void }> = {
    'before the first byte of a stream': { stream: true, play: () => {} },
    'in the middle of a stream': {
      stream: true,
      play: (res) => void res.writeHead(200, SSE).write(delta('a')),
    },
    'before a whole response': { stream: false, play: () => {} },
  };

  it.each(Object.entries(PHASES))('%s: the engine is free within 250 ms, repeatedly', async (_, phase) => {
    const { gateway, responses, engine, slots } = await startWithManualEngine();
    const durations: number[] = [];
    for (let round = 0; round < scale(500); round++) {
      const { req } = send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: phase.stream }));
      req.on('error', () => {});
      await until(() => responses.length === 1);
      phase.play(responses.pop() as ServerResponse);
      await until(() => gateway.inference.running().length === 1);
      req.destroy();
      durations.push(await until(() => engine.sockets.size === 0));
      await until(() => slots.released === round + 1);
    }
    durations.sort((a, b) => a - b);
    expect(durations[Math.floor(durations.length * 0.9)] ?? 0).toBeLessThan(250);
    expect(gateway.inference.running()).toEqual([]);
    expect(gateway.log.every(({ status }) => status === 499)).toBe(true);
  });
});

describe('S03 an engine that dies in a stream', () => {
  it.each([
    ['by a reset', (res: ServerResponse) => (res.socket as Socket).resetAndDestroy()],
    ['by closing without the last chunk', (res: ServerResponse) => res.socket?.destroy()],
  ])('%s: an error event, a clean end, no [DONE]', async (_, die) => {
    const { gateway, responses, slots } = await startWithManualEngine();
    const { head } = send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200, SSE).write(delta('a'));
    const rest = readAll(await head);
    die(responses[0] as ServerResponse);
    const { body, whole } = await rest;
    expect(whole).toBe(true);
    const events = body.split('\n\n').filter(Boolean);
    expect(events[0]).toBe(delta('a').trim());
    expect(JSON.parse((events.at(-1) ?? '').replace('data: ', ''))).toMatchObject({
      error: { code: 'dispatch.upstream_unavailable', type: 'server_error', param: null },
    });
    expect(body).not.toContain('[DONE]');
    await until(() => slots.released === 1);
  });
});

describe('S05 a slow reader', () => {
  it('pauses the engine: at most 1 MiB is buffered in the gateway, also for an endless line', async () => {
    const total = 32 << 20;
    const engine = new StreamingEngine(total);
    const { gateway } = await setUp((_req, res) => engine.answer(res));
    let maxBuffered = 0;
    gateway.server.prependListener('request', (_req, res: ServerResponse) => {
      const write = res.write.bind(res) as (chunk: Buffer) => boolean;
      res.write = ((chunk: Buffer) => {
        const accepted = write(chunk);
        maxBuffered = Math.max(maxBuffered, res.writableLength);
        return accepted;
      }) as typeof res.write;
    });
    const res = await send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true })).head;
    await until(engine.waits);
    expect(engine.sent).toBeLessThan(total);
    let received = 0;
    for await (const chunk of res) received += (chunk as Buffer).length;
    expect(received).toBe(total);
    expect(maxBuffered).toBeGreaterThan(0);
    expect(maxBuffered).toBeLessThanOrEqual(1 << 20);
  });
});

describe('S05 an endless line', () => {
  const PIECE = Buffer.alloc(65_536, 0x61);

  /** A stand-in that starts like a real engine and then sends one endless line as fast as possible. */
  const endless = (head: Record<string, string>, start: string) =>
    setUp((req, res) => {
      req.resume();
      res.writeHead(200, head).write(start);
      const more = () => {
        while (!res.destroyed && res.write(PIECE));
      };
      res.on('drain', more);
      more();
    });

  it.each([
    ['an event stream', SSE, delta('a')],
    ['an event stream in CR', SSE, 'data: {}\r\r'],
  ])('%s: an error event ends it, and the engine is cut', async (_, head, start) => {
    const { gateway, engine, slots } = await endless(head, start);
    const res = await send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true })).head;
    let received = 0;
    let end = '';
    for await (const chunk of res.setEncoding('latin1')) {
      received += (chunk as string).length;
      end = (end + (chunk as string)).slice(-1_000);
    }
    expect([res.statusCode, res.complete]).toEqual([200, true]);
    expect(received).toBeGreaterThan(MAX_LINE_BYTES - (1 << 20));
    expect(received).toBeLessThan(MAX_LINE_BYTES + (1 << 20));
    expect(end).toMatch(/a\n\ndata: \{"error":\{"code":"upstream\.error",.*without an end.*\}\}\n\n$/);
    await until(() => engine.sockets.size === 0 && slots.released === 1);
    expect(gateway.log).toMatchObject([{ status: 200, error: 'upstream.error' }]);
  });

  it('NDJSON has no error event: the connection breaks', async () => {
    const { gateway, engine } = await endless({ 'content-type': 'application/x-ndjson' }, '{}\n');
    const res = await send(gateway.origin, CHAT, JSON.stringify(hello)).head;
    const reading = async () => {
      for await (const _ of res);
    };
    await expect(reading()).rejects.toThrow();
    await until(() => engine.sockets.size === 0 && gateway.log.length === 1);
    expect(gateway.log).toMatchObject([{ error: 'upstream.error' }]);
  });

  it.each([RESPONSES, MESSAGES] as const)('%s, streamed: its own error event ends it', async (path) => {
    const { gateway, engine } = await endless(SSE, delta('a'));
    const response = await post(gateway.origin, path, { ...BODIES[path], stream: true });
    expect([response.status, response.whole]).toEqual([200, true]);
    expect(response.body).toMatch(/event: (error|response\.failed)\ndata: .*upstream\.error.*\n\n$/);
    expect(response.body.length).toBeLessThan(10_000);
    await until(() => engine.sockets.size === 0 && gateway.log.length === 1);
    expect(gateway.log).toMatchObject([{ status: 200, error: 'upstream.error' }]);
  });

  it.each([
    [RESPONSES, BODIES[RESPONSES]],
    [MESSAGES, BODIES[MESSAGES]],
    ['/v1/rerankings', { model: 'ranks', query: 'q', documents: ['a'] }],
  ] as const)('%s, whole: 502, and the engine is cut', async (path, body) => {
    const { gateway, engine, slots } = await endless(JSON_TYPE, '{"choices":"');
    slots.records.push(
      slotRecord({ name: 'rerank', type: 'rerank', engine: 'llama-server', model: 'ranks' }),
    );
    const response = await post(gateway.origin, path, body);
    expect([response.status, response.whole]).toEqual([502, true]);
    expect(JSON.parse(response.body)).toMatchObject({ error: { code: 'upstream.error' } });
    await until(() => engine.sockets.size === 0 && slots.released === 1);
    await until(() => gateway.log.length === 1);
    expect(gateway.log).toMatchObject([{ status: 502, error: 'upstream.error' }]);
  });
});
