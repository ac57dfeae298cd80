import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  detachBuffer,
  installWriteRelease,
  releaseAfterWrite,
  releaseWhenWritten,
} from './buffer-release.ts';
import { coalesceWrites } from './coalesce-writes.ts';

const LONG = 64 * 1024;
const own = (fill: string, length = LONG) => Buffer.from(new ArrayBuffer(length)).fill(fill);

test('long bytes whose memory is theirs alone are let go; others stay', () => {
  const alone = own('a');
  detachBuffer(alone);
  expect([alone.length, alone.buffer.byteLength]).toEqual([0, 0]);
  const part = own('b', 2 * LONG).subarray(0, LONG);
  detachBuffer(part);
  expect(part.every((byte) => byte === 0x62)).toBe(true);
  const short = own('c', 100);
  detachBuffer(short);
  expect(short.toString()).toBe('c'.repeat(100));
  // The pool of Node's own short Buffers cannot be given away.
  const pool = new Uint8Array(Buffer.allocUnsafe(8).buffer);
  detachBuffer(pool);
  expect(pool.length).toBe(Buffer.poolSize);
  const shared = Buffer.from(new SharedArrayBuffer(LONG));
  detachBuffer(shared);
  expect(shared.length).toBe(LONG);
});

/** A connection whose far end reads when it is told to. */
async function pair(): Promise<{ near: Socket; far: Socket; close: () => void }> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as { port: number }).port, '127.0.0.1');
  near.on('error', () => {});
  installWriteRelease(near);
  coalesceWrites(near);
  const [far] = (await once(server, 'connection')) as [Socket];
  const close = () => {
    near.destroy();
    far.destroy();
    server.close();
  };
  return { near, far, close };
}

test('what is marked goes once it is written, arrives whole, and nothing else goes', async () => {
  const { near, far, close } = await pair();
  const pieces = Array.from({ length: 400 }, (_, at) => own(String.fromCharCode(97 + (at % 26))));
  const want = Buffer.concat(pieces);
  const kept = pieces.filter((_, at) => at % 5 === 0);
  for (const [at, piece] of pieces.entries()) {
    if (at % 7 === 0) near.cork();
    near.write(at % 5 === 0 ? piece : releaseAfterWrite(piece));
    if (at % 7 === 6) near.uncork();
  }
  for (let corked = near.writableCorked; corked > 0; corked--) near.uncork();
  // The far end does not read yet: most of it waits, and must not be gone.
  await sleep(50);
  expect(near.writableLength).toBeGreaterThan(0);
  expect(pieces.at(-1)?.length).toBe(LONG);
  const got: Buffer[] = [];
  far.on('data', (chunk) => got.push(chunk)).resume();
  near.end();
  await once(far, 'end');
  expect(Buffer.concat(got).equals(want)).toBe(true);
  expect(pieces.filter(({ length }) => length > 0)).toEqual(kept);
  close();
});

test('what a broken connection did not write is let go as well', async () => {
  const { near, close } = await pair();
  const first = releaseAfterWrite(own('a', 32 * 2 ** 20));
  let failed: Error | null | undefined;
  near.write(first, (error) => {
    failed = error;
  });
  await sleep(20);
  expect(first.length).toBeGreaterThan(0);
  near.destroy();
  await once(near, 'close');
  await sleep(20);
  expect(failed).toBeInstanceOf(Error);
  close();
});

test('bytes that a socket still has to write go behind the last of them, and arrive whole', async () => {
  const one = await pair();
  const two = await pair();
  const body = own('a', 24 * 2 ** 20);
  const want = Buffer.from(body);
  // In parts, as an edited body is, over one connection; as a whole over another, as if the first one had failed.
  for (const at of [0, 1, 2]) one.near.write(body.subarray(at * 2 ** 23, (at + 1) * 2 ** 23));
  two.near.write(body);
  releaseWhenWritten(body);
  await sleep(50);
  expect([one.near.writableLength, two.near.writableLength].every((left) => left > 0)).toBe(true);
  expect(body.length).toBe(want.length);
  for (const { near, far } of [one, two]) {
    const got: Buffer[] = [];
    far.on('data', (chunk) => got.push(chunk)).resume();
    near.end();
    await once(far, 'end');
    expect(Buffer.concat(got).equals(want)).toBe(true);
    expect(body.length).toBe(near === one.near ? want.length : 0);
  }
  one.close();
  two.close();
});

test('bytes that nobody writes any more are let go at once, and what a socket has of them elsewhere stays', async () => {
  const { near, far, close } = await pair();
  far.resume();
  const body = own('a', 2 * LONG);
  await new Promise((done) => near.write(body, done));
  expect(body.length).toBe(2 * LONG);
  releaseWhenWritten(body);
  expect(body.length).toBe(0);
  const kept = own('b');
  await new Promise((done) => near.write(kept, 'utf8', done));
  // Of memory as long as what several short Buffers share, short parts are not followed: it is left to the collector.
  releaseWhenWritten(kept);
  expect(kept.length).toBe(LONG);
  expect(kept.every((byte) => byte === 0x62)).toBe(true);
  close();
});

test('a short part of a long body arrives as well when it goes out long after the long ones', async () => {
  const { near, far, close } = await pair();
  const body = own('a', 8 * 2 ** 20);
  body.fill('z', body.length - 100);
  const other = own('o', 8 * 2 ** 20);
  const want = Buffer.concat([body.subarray(0, -100), other, body.subarray(-100)]);
  let longIsOut = false;
  /** What is left of the body once all but its short part is out. */
  let left = 0;
  near.write(body.subarray(0, -100), () => (longIsOut = true));
  near.write(other, () => (left = body.length));
  near.write(body.subarray(-100));
  releaseWhenWritten(body);
  const got: Buffer[] = [];
  far.on('data', (chunk) => got.push(chunk)).resume();
  near.end();
  await once(far, 'end');
  expect(Buffer.concat(got).equals(want)).toBe(true);
  expect([longIsOut, left, body.length]).toEqual([true, want.length - other.length, 0]);
  close();
});
