/** Group S of the catalogue: callers who leave, engines that die, readers that are slow; the forwarder before a real server. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ask, readAll, until } from '../inference/testing/client.ts';
import { CHAT, closeAfterEach, delta, held, hello, SSE, setUp } from '../inference/testing/forwarding.ts';
import { scale } from './harness/scale.ts';

closeAfterEach();

describe('S01 a caller who leaves', () => {
  const PHASES: Record<string, { stream: boolean; play(res: ServerResponse): void }> = {
    'before the first byte of a stream': { stream: true, play: () => {} },
    'in the middle of a stream': {
      stream: true,
      play: (res) => void res.writeHead(200, SSE).write(delta('a')),
    },
    'before a whole answer': { stream: false, play: () => {} },
  };

  it.each(Object.entries(PHASES))(
    '%s: the engine is free within 250 ms, time after time',
    async (_, phase) => {
      const { gateway, got, engine, slots } = await held();
      const took: number[] = [];
      for (let round = 0; round < scale(500); round++) {
        const { req } = ask(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: phase.stream }));
        req.on('error', () => {});
        await until(() => got.length === 1);
        phase.play(got.pop() as ServerResponse);
        await until(() => gateway.inference.running().length === 1);
        req.destroy();
        took.push(await until(() => engine.sockets.size === 0));
        await until(() => slots.released === round + 1);
      }
      took.sort((a, b) => a - b);
      expect(took[Math.floor(took.length * 0.9)] ?? 0).toBeLessThan(250);
      expect(gateway.inference.running()).toEqual([]);
      expect(gateway.log.every(({ status }) => status === 499)).toBe(true);
    },
  );
});

describe('S03 an engine that dies in a stream', () => {
  it.each([
    ['by a reset', (res: ServerResponse) => (res.socket as Socket).resetAndDestroy()],
    ['by closing without the last chunk', (res: ServerResponse) => res.socket?.destroy()],
  ])('%s: an error event, a clean end, no [DONE]', async (_, die) => {
    const { gateway, got, slots } = await held();
    const { head } = ask(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
    await until(() => got.length === 1);
    got[0]?.writeHead(200, SSE).write(delta('a'));
    const rest = readAll(await head);
    die(got[0] as ServerResponse);
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
  it('pauses the engine: at most 1 MiB waits in the gateway, of a line without an end too', async () => {
    const total = 32 << 20;
    let sent = 0;
    const { gateway } = await setUp((_req, res) => {
      res.writeHead(200, SSE);
      const more = () => {
        while (sent < total) {
          sent += 65_536;
          if (!res.write(Buffer.alloc(65_536, 0x61))) return;
        }
        res.end();
      };
      res.on('drain', more);
      more();
    });
    let most = 0;
    gateway.server.prependListener('request', (_req, res: ServerResponse) => {
      const write = res.write.bind(res) as (chunk: Buffer) => boolean;
      res.write = ((chunk: Buffer) => {
        const kept = write(chunk);
        most = Math.max(most, res.writableLength);
        return kept;
      }) as typeof res.write;
    });
    const res = await ask(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true })).head;
    let before = -1;
    await until(() => {
      const still = sent === before;
      before = sent;
      return still && sent > 0;
    });
    expect(sent).toBeLessThan(total);
    let received = 0;
    for await (const chunk of res) received += (chunk as Buffer).length;
    expect(received).toBe(total);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(1 << 20);
  });
});
