import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { listenOnLoopback } from '../lib/testing/listening.ts';
import { type ConsumeBytes, readBytes, receiveInto } from './receive-body.ts';

/** Returns what a consumer received of `body`, which is sent in one piece, or the reason of the rejection. */
async function received(
  body: Buffer,
  take: ConsumeBytes,
  { signal = new AbortController().signal, declared = true } = {},
): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const server = createServer((req, res) => {
    receiveInto(req, res, 'auth', take, signal)
      .then(() => resolve('all'), resolve)
      .finally(() => res.end());
  });
  const sending = request({ port: await listenOnLoopback(server), method: 'POST' });
  sending.on('error', () => {});
  sending.on('response', (res) => res.resume());
  if (!declared) sending.write(body.subarray(0, 10));
  sending.end(declared ? body : body.subarray(10));
  const outcome = await promise;
  server.close();
  server.closeAllConnections();
  return outcome;
}

test('ends when the last bytes were consumed, not when they arrived', async () => {
  const chunks: Buffer[] = [];
  const outcome = await received(Buffer.alloc(16_000, 7), async (chunk) => {
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    chunks.push(chunk);
  });
  expect([outcome, Buffer.concat(chunks).length]).toEqual(['all', 16_000]);
});

test('chunks are consumed one after the other', async () => {
  let busy = 0;
  const outcome = await received(Buffer.alloc(16_000), async () => {
    busy += 1;
    await nextTurn();
    expect(busy).toBe(1);
    busy -= 1;
  });
  expect(outcome).toBe('all');
});

test.each([true, false])('more than the cap is 413 (length declared: %s)', async (declared) => {
  const outcome = await received(Buffer.alloc(20_000), () => undefined, { declared });
  expect(outcome).toMatchObject({ code: 'request.too_large' });
});

test('ends when the consumer fails or the caller disconnects', async () => {
  const full = new Error('full');
  expect(await received(Buffer.from('x'), () => Promise.reject(full))).toBe(full);
  const reason = new Error('disconnected');
  expect(await received(Buffer.from('x'), () => undefined, { signal: AbortSignal.abort(reason) })).toBe(
    reason,
  );
});

test('a consumer that throws ends the reading like one that rejects', async () => {
  const why = new Error('not this');
  const throws = await received(Buffer.alloc(10_000), () => {
    throw why;
  });
  expect(throws).toBe(why);
  expect(await received(Buffer.alloc(10_000), () => Promise.reject(why))).toBe(why);
});

test('frees the memory of an aborted long body', async () => {
  const LENGTH = 13 * 1024 * 1024;
  const buffers: Buffer[] = [];
  const allocate = Buffer.allocUnsafeSlow;
  const allocations = vi.spyOn(Buffer, 'allocUnsafeSlow').mockImplementation((bytes) => {
    const buffer = allocate(bytes);
    if (bytes === LENGTH) buffers.push(buffer);
    return buffer;
  });
  const sender = new PassThrough({ highWaterMark: LENGTH });
  const req = Object.assign(sender, { headers: { 'content-length': String(LENGTH) } });
  const read = readBytes(req as unknown as IncomingMessage, {} as ServerResponse, 'inference');
  for (let at = 0; at < 32; at++) sender.write(Buffer.from(new ArrayBuffer(65_536)).fill('d'));
  await new Promise((resolve) => setImmediate(resolve));
  sender.destroy();
  await expect(read).rejects.toMatchObject({ code: 'request.malformed' });
  expect(buffers.map(({ buffer }) => buffer.byteLength)).toEqual([0]);
  allocations.mockRestore();
});
