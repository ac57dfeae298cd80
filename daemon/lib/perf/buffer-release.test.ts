import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { detachBuffer, installWriteRelease, releaseWhenWritten } from './buffer-release.ts';

const LONG = 64 * 1024;
const own = (fill: string, length = LONG) => Buffer.from(new ArrayBuffer(length)).fill(fill);

test('detaches long bytes with their own memory, and no others', () => {
  const alone = own('a');
  detachBuffer(alone);
  expect([alone.length, alone.buffer.byteLength]).toEqual([0, 0]);
  const part = own('b', 2 * LONG).subarray(0, LONG);
  detachBuffer(part);
  expect(part.every((byte) => byte === 0x62)).toBe(true);
  const short = own('c', 100);
  detachBuffer(short);
  expect(short.toString()).toBe('c'.repeat(100));
  // Node's pool for short Buffers cannot be detached.
  const pool = new Uint8Array(Buffer.allocUnsafe(8).buffer);
  detachBuffer(pool);
  expect(pool.length).toBe(Buffer.poolSize);
  const shared = Buffer.from(new SharedArrayBuffer(LONG));
  detachBuffer(shared);
  expect(shared.length).toBe(LONG);
});

/** A connection whose peer reads on demand. */
async function pair(): Promise<{ sender: Socket; receiver: Socket; close: () => void }> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = connect((server.address() as { port: number }).port, '127.0.0.1');
  sender.on('error', () => {});
  installWriteRelease(sender);
  const [receiver] = (await once(server, 'connection')) as [Socket];
  const close = () => {
    sender.destroy();
    receiver.destroy();
    server.close();
  };
  return { sender, receiver, close };
}

test('releases memory after its last pending write, and all bytes arrive', async () => {
  const one = await pair();
  const two = await pair();
  const body = own('a', 24 * 2 ** 20);
  const want = Buffer.from(body);
  // In parts like an edited body over one connection, and as a whole over another, as if the first one had
  // failed.
  for (const at of [0, 1, 2]) one.sender.write(body.subarray(at * 2 ** 23, (at + 1) * 2 ** 23));
  two.sender.write(body);
  releaseWhenWritten(body);
  await sleep(50);
  expect([one.sender.writableLength, two.sender.writableLength].every((left) => left > 0)).toBe(true);
  expect(body.length).toBe(want.length);
  for (const { sender, receiver } of [one, two]) {
    const received: Buffer[] = [];
    receiver.on('data', (chunk) => received.push(chunk)).resume();
    sender.end();
    await once(receiver, 'end');
    expect(Buffer.concat(received).equals(want)).toBe(true);
    expect(body.length).toBe(sender === one.sender ? want.length : 0);
  }
  one.close();
  two.close();
});

test('releases memory without pending writes at once, and keeps other memory that a socket still writes', async () => {
  const { sender, receiver, close } = await pair();
  receiver.resume();
  const body = own('a', 2 * LONG);
  await new Promise((done) => sender.write(body, done));
  expect(body.length).toBe(2 * LONG);
  releaseWhenWritten(body);
  expect(body.length).toBe(0);
  const remaining = own('b');
  await new Promise((done) => sender.write(remaining, 'utf8', done));
  // Memory of the maximum shared size is not tracked for short parts. The garbage collector frees it.
  releaseWhenWritten(remaining);
  expect(remaining.length).toBe(LONG);
  expect(remaining.every((byte) => byte === 0x62)).toBe(true);
  close();
});

test('a short part of a long body arrives even when it is written long after the long ones', async () => {
  const { sender, receiver, close } = await pair();
  const body = own('a', 8 * 2 ** 20);
  body.fill('z', body.length - 100);
  const other = own('o', 8 * 2 ** 20);
  const want = Buffer.concat([body.subarray(0, -100), other, body.subarray(-100)]);
  let longIsWritten = false;
  /** What remains of the body once all but its short part is written. */
  let left = 0;
  sender.write(body.subarray(0, -100), () => (longIsWritten = true));
  sender.write(other, () => (left = body.length));
  sender.write(body.subarray(-100));
  releaseWhenWritten(body);
  const received: Buffer[] = [];
  receiver.on('data', (chunk) => received.push(chunk)).resume();
  sender.end();
  await once(receiver, 'end');
  expect(Buffer.concat(received).equals(want)).toBe(true);
  expect([longIsWritten, left, body.length]).toEqual([true, want.length - other.length, 0]);
  close();
});
