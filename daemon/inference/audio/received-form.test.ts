import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import type { StoredBody } from '../../lib/net/outbound.ts';
import { scratchOfFile } from '../../lib/testing/scratch.ts';
import type { ReceiveBody } from '../call-context.ts';
import { receiveForm } from './received-form.ts';
import { SpoolStore } from './spool-store.ts';

const home = scratchOfFile();

const TYPE = 'multipart/form-data; boundary=xyz';
const neverAborted = new AbortController().signal;
const MODEL = '--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n';
const form = (size: number): Buffer =>
  Buffer.concat([
    Buffer.from('--xyz\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'),
    Buffer.alloc(size, 0x61),
    Buffer.from(`\r\n${MODEL}--xyz--\r\n`),
  ]);
const sending =
  (bytes: Buffer): ReceiveBody =>
  async (take) => {
    for (let at = 0; at < bytes.length; at += 65_536) await take(bytes.subarray(at, at + 65_536));
  };

/** A form whose sender declares no length: it is always received completely first. */
const slow = (bytes: Buffer) => ({ contentType: TYPE, declaredBytes: Number.NaN, receive: sending(bytes) });

/** A clock that advances by `ms` milliseconds at each read. */
function clock(step: number): () => number {
  let at = 0;
  return () => {
    at += step;
    return at;
  };
}

test('a small form stays in memory, a large one goes to disk; both are unchanged', async () => {
  const spools = new SpoolStore(join(home, 'spool'));
  for (const size of [10, 3 << 20]) {
    const bytes = form(size);
    const received = await receiveForm(slow(bytes), spools, neverAborted);
    expect(received.fields.model).toBe('m');
    expect(Buffer.isBuffer(received.body)).toBe(size < 1 << 20);
    const { body } = received;
    for (let time = 0; time < 2; time++) {
      const back = Buffer.isBuffer(body) ? body : await buffer((body as StoredBody).stream());
      expect(back.equals(bytes)).toBe(true);
    }
    received.dispose();
  }
  expect(readdirSync(join(home, 'spool'))).toEqual([]);
});

test('a streamed form of any length is complete for a late reader', async () => {
  const spools = new SpoolStore(join(home, 'late'));
  for (const size of [700_000, 1_000_000, 3 << 20]) {
    const file = '--xyz\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
    const bytes = Buffer.concat([
      Buffer.from(MODEL + file),
      Buffer.alloc(size, 0x61),
      Buffer.from('\r\n--xyz--\r\n'),
    ]);
    let ended = false;
    const receive: ReceiveBody = async (take) => {
      for (let at = 0; at < bytes.length; at += 65_536)
        await take(Buffer.from(new Uint8Array(bytes.subarray(at, at + 65_536)).buffer));
      ended = true;
    };
    const source = { contentType: TYPE, declaredBytes: bytes.length, receive, now: clock(0) };
    const { body, dispose } = await receiveForm(source, spools, neverAborted);
    expect(Buffer.isBuffer(body)).toBe(false);
    await vi.waitFor(() => expect(ended).toBe(true), 20_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await buffer((body as StoredBody).stream())).equals(bytes)).toBe(true);
    dispose();
  }
});

test('the bytes on disk are bounded and released', async () => {
  const spools = new SpoolStore(join(home, 'small'), 3 << 20);
  const first = await receiveForm(slow(form(2 << 20)), spools, neverAborted);
  await expect(receiveForm(slow(form(2 << 20)), spools, neverAborted)).rejects.toMatchObject({
    code: 'audio.no_room',
    status: 503,
  });
  first.dispose();
  const second = await receiveForm(slow(form(2 << 20)), spools, neverAborted);
  second.dispose();
});

test('an upload that is aborted during a write releases its share', async () => {
  const spools = new SpoolStore(join(home, 'broken'), 3 << 20);
  const broken = new Error('broken off');
  const breaks: ReceiveBody = async (take) => {
    await sending(form(3 << 20).subarray(0, 2_500_000))(take, neverAborted);
    throw broken;
  };
  for (let time = 0; time < 3; time++) {
    const source = { contentType: TYPE, declaredBytes: Number.NaN, receive: breaks };
    await expect(receiveForm(source, spools, neverAborted)).rejects.toBe(broken);
    await vi.waitFor(
      async () => (await receiveForm(slow(form(2 << 20)), spools, neverAborted)).dispose(),
      20_000,
    );
  }
});

test('a folder that is not writable gives 503', async () => {
  writeFileSync(join(home, 'file'), 'no folder');
  const spools = new SpoolStore(join(home, 'file', 'spool'));
  await expect(receiveForm(slow(form(2 << 20)), spools, neverAborted)).rejects.toMatchObject({
    code: 'audio.no_room',
  });
});

test('rejects with the refusal of the sender', async () => {
  const broken = new Error('broken off');
  const spools = new SpoolStore(join(home, 'spool'));
  await expect(
    receiveForm(
      { contentType: TYPE, declaredBytes: Number.NaN, receive: () => Promise.reject(broken) },
      spools,
      neverAborted,
    ),
  ).rejects.toBe(broken);
  await expect(
    receiveForm({ ...slow(form(1)), contentType: 'text/plain' }, spools, neverAborted),
  ).rejects.toMatchObject({
    code: 'request.unsupported_type',
  });
});

/** A form whose model comes first. */
const modelFirst = (size: number, more = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`${MODEL}--xyz\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`),
    Buffer.alloc(size, 0x61),
    Buffer.from(`\r\n${more}--xyz--\r\n`),
  ]);

/** Sends the first megabyte, and the rest when triggered. */
function twoParts(bytes: Buffer) {
  const go = Promise.withResolvers<void>();
  const receive: ReceiveBody = async (take) => {
    await sending(bytes.subarray(0, 1 << 20))(take, neverAborted);
    await go.promise;
    await sending(bytes.subarray(1 << 20))(take, neverAborted);
  };
  return { source: { contentType: TYPE, declaredBytes: bytes.length, receive }, go: go.resolve };
}

test('streams the form of a fast sender with the model first', async () => {
  const spools = new SpoolStore(join(home, 'flow'));
  const bytes = modelFirst(3 << 20);
  const { source, go } = twoParts(bytes);
  const received = await receiveForm(source, spools, neverAborted);
  expect(received.fields.model).toBe('m');
  const { body } = received;
  expect(Buffer.isBuffer(body)).toBe(false);
  expect(body.length).toBe(bytes.length);
  const read = buffer((body as StoredBody).stream());
  go();
  expect((await read).equals(bytes)).toBe(true);
  received.dispose();
  expect(readdirSync(home)).not.toContain('flow');
});

test.each([
  ['slow', { now: clock(10_000) }, modelFirst(3 << 20)],
  ['that declares no length', { declaredBytes: Number.NaN }, modelFirst(3 << 20)],
  ['that names its model last', {}, form(3 << 20)],
])('receives the form of a sender %s completely first', async (_, more, bytes) => {
  const spools = new SpoolStore(join(home, 'whole'));
  const { source, go } = twoParts(bytes);
  let isReceived = false;
  const received = receiveForm({ ...source, ...more }, spools, neverAborted).finally(() => {
    isReceived = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(isReceived).toBe(false);
  go();
  const { body, dispose } = await received;
  expect((await buffer((body as StoredBody).stream())).equals(bytes)).toBe(true);
  dispose();
});

test('a second model ends a streamed body before its last bytes', async () => {
  const bytes = modelFirst(3 << 20, MODEL.replace('\r\nm\r\n', '\r\nother\r\n'));
  const { source, go } = twoParts(bytes);
  const received = await receiveForm(source, new SpoolStore(join(home, 'two')), neverAborted);
  const read = buffer((received.body as StoredBody).stream());
  go();
  await expect(read).rejects.toMatchObject({ code: 'request.invalid' });
  received.dispose();
});

test('disposing of the form releases its sender', async () => {
  let signal: AbortSignal | null = null;
  const bytes = modelFirst(3 << 20);
  const receive: ReceiveBody = async (take, ended) => {
    signal = ended;
    await sending(bytes.subarray(0, 1 << 20))(take, neverAborted);
    await new Promise((_, reject) => ended.addEventListener('abort', () => reject(ended.reason)));
  };
  const spools = new SpoolStore(join(home, 'left'));
  const received = await receiveForm(
    { contentType: TYPE, declaredBytes: bytes.length, receive },
    spools,
    neverAborted,
  );
  const read = buffer((received.body as StoredBody).stream());
  received.dispose();
  await expect(read).rejects.toThrow('no longer needed');
  expect(signal).toMatchObject({ aborted: true });
});
