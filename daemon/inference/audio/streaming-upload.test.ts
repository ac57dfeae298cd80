import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { scratchOfFile } from '../../lib/testing/scratch.ts';
import { SpoolStore } from './spool-store.ts';
import { StreamingUpload } from './streaming-upload.ts';
import { UploadBuffer } from './upload-buffer.ts';

const home = scratchOfFile();
const spools = new SpoolStore(join(home, 'spool'));

const piece = (letter: string, size = 4): Buffer => Buffer.alloc(size, letter);
const MIB = 1 << 20;

const openBuffers: UploadBuffer[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const upload of openBuffers.splice(0)) upload.dispose();
});

/** An upload of a declared length that has received these bytes. */
function flowOf(
  length: number,
  before: readonly Buffer[],
  pace?: { bytes: number; ms: number },
): StreamingUpload {
  const upload = new UploadBuffer(spools);
  openBuffers.push(upload);
  for (const each of before) void upload.push(each);
  return new StreamingUpload(length, upload, pace);
}

test('yields earlier and later chunks in order', async () => {
  const flow = flowOf(12, [piece('a')]);
  const read = buffer(flow.stream());
  void flow.push(piece('b'));
  await new Promise(setImmediate);
  void flow.push(piece('c'));
  flow.end();
  expect((await read).toString()).toBe('aaaabbbbcccc');
});

test('a body that ended before it is read is available', async () => {
  const flow = flowOf(8, [piece('a')]);
  void flow.push(piece('b'));
  flow.end();
  flow.fail(new Error('too late to count'));
  expect((await buffer(flow.stream())).toString()).toBe('aaaabbbb');
});

test('an unread body does not block its sender, is buffered and can be read repeatedly', async () => {
  const flow = flowOf(6 * MIB + 4, [piece('a')]);
  expect(flow.once).toBe(true);
  for (let sent = 0; sent < 6 * MIB; sent += 65_536) await flow.push(piece('x', 65_536));
  expect(flow.once).toBe(false);
  flow.stream().destroy();
  const early = buffer(flow.stream());
  flow.end();
  for (const read of [await early, await buffer(flow.stream())]) {
    expect(read.length).toBe(6 * MIB + 4);
    expect(read.subarray(0, 6).toString()).toBe('aaaaxx');
  }
});

test('a read body applies backpressure to the sender', async () => {
  const flow = flowOf(1 << 30, []);
  const out = flow.stream();
  let waits: Promise<void> | undefined;
  let sent = 0;
  for (; waits === undefined; sent += 65_536) waits = flow.push(piece('x', 65_536));
  expect(sent).toBeLessThan(4 * MIB);
  let hasResumed = false;
  void waits.then(() => {
    hasResumed = true;
  });
  await new Promise(setImmediate);
  expect(hasResumed).toBe(false);
  out.resume();
  await waits;
  expect(flow.push(piece('y'))).toBeUndefined();
  flow.fail(new Error('no listener'));
  await new Promise(setImmediate);
});

test('a live body can be read again only while no chunk was read', async () => {
  const flow = flowOf(4, [piece('a')]);
  flow.stream().destroy();
  const second = flow.stream();
  flow.end();
  expect((await buffer(second)).toString()).toBe('aaaa');
  await expect(buffer(flow.stream())).rejects.toMatchObject({ code: 'dispatch.upstream_unavailable' });
});

test.each([true, false])('a failure reaches the reader (reading before: %s)', async (before) => {
  const flow = flowOf(100, [piece('a')]);
  const reason = new GatewayError('request.invalid');
  const early = before ? buffer(flow.stream()) : null;
  flow.fail(reason);
  expect(flow.push(piece('b'))).toBeUndefined();
  await expect(early ?? buffer(flow.stream())).rejects.toBe(reason);
});

test('a failure reaches a reader that waits for the disk', async () => {
  const flow = flowOf(9 * MIB, []);
  await flow.push(piece('x', 4 * MIB));
  const read = buffer(flow.stream());
  const reason = new GatewayError('request.invalid');
  flow.fail(reason);
  await expect(read).rejects.toBe(reason);
});

test('a blocked sender continues when the body has failed', async () => {
  const flow = flowOf(1 << 30, []);
  flow.stream();
  const waits = flow.push(piece('x', 2 * MIB));
  flow.fail(new Error('disconnected'));
  await waits;
});

const useManualTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

test('a sender that occupies an engine must keep the minimum pace', async () => {
  useManualTime();
  const flow = flowOf(100, [piece('a')], { bytes: 8, ms: 50 });
  vi.advanceTimersByTime(120);
  const read = buffer(flow.stream());
  const rejected = expect(read).rejects.toMatchObject({ code: 'request.timeout', status: 408 });
  for (let n = 0; n < 5; n++) {
    void flow.push(piece('b', 1));
    vi.advanceTimersByTime(10);
  }
  await rejected;
});

test('a sender that keeps the pace continues; waiting for the engine does not count', async () => {
  useManualTime();
  const flow = flowOf(100 * MIB, [], { bytes: 4, ms: 200 });
  const out = flow.stream();
  const full = flow.push(piece('x', 2 * MIB));
  vi.advanceTimersByTime(400);
  const read = buffer(out);
  await full;
  for (let n = 0; n < 12; n++) {
    vi.advanceTimersByTime(199);
    void flow.push(piece('y'));
  }
  flow.end();
  expect((await read).length).toBe(2 * MIB + 48);
});
