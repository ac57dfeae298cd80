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

const from = (bytes: Buffer) => ({ contentType: TYPE, receive: sending(bytes) });

test('a small form stays in memory, a large one goes to disk; both are unchanged', async () => {
  const spools = new SpoolStore(join(home, 'spool'));
  for (const size of [10, 3 << 20]) {
    const bytes = form(size);
    const received = await receiveForm(from(bytes), spools, neverAborted);
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

test('the bytes on disk are bounded and released', async () => {
  const spools = new SpoolStore(join(home, 'small'), 3 << 20);
  const first = await receiveForm(from(form(2 << 20)), spools, neverAborted);
  await expect(receiveForm(from(form(2 << 20)), spools, neverAborted)).rejects.toMatchObject({
    code: 'audio.no_room',
    status: 503,
  });
  first.dispose();
  const second = await receiveForm(from(form(2 << 20)), spools, neverAborted);
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
    const source = { contentType: TYPE, receive: breaks };
    await expect(receiveForm(source, spools, neverAborted)).rejects.toBe(broken);
    await vi.waitFor(
      async () => (await receiveForm(from(form(2 << 20)), spools, neverAborted)).dispose(),
      20_000,
    );
  }
});

test('a folder that is not writable gives 503', async () => {
  writeFileSync(join(home, 'file'), 'no folder');
  const spools = new SpoolStore(join(home, 'file', 'spool'));
  await expect(receiveForm(from(form(2 << 20)), spools, neverAborted)).rejects.toMatchObject({
    code: 'audio.no_room',
  });
});

test('rejects with the refusal of the sender', async () => {
  const broken = new Error('broken off');
  const spools = new SpoolStore(join(home, 'spool'));
  await expect(
    receiveForm({ contentType: TYPE, receive: () => Promise.reject(broken) }, spools, neverAborted),
  ).rejects.toBe(broken);
  await expect(
    receiveForm({ ...from(form(1)), contentType: 'text/plain' }, spools, neverAborted),
  ).rejects.toMatchObject({
    code: 'request.unsupported_type',
  });
});

test('rejects a form with two models', async () => {
  const spools = new SpoolStore(join(home, 'two'));
  const bytes = Buffer.concat([Buffer.from(MODEL.replace('\r\nm\r\n', '\r\nother\r\n')), form(3 << 20)]);
  const { fields, dispose } = await receiveForm(from(bytes), spools, neverAborted);
  expect(() => fields.model).toThrow('must be given once');
  dispose();
});

const MODEL_FIRST = Buffer.concat([Buffer.from(MODEL), form(3 << 20)]);
test.each([
  ['before the file', MODEL_FIRST, 1],
  ['after the file', form(3 << 20), 0],
  ['in a form of one chunk', form(10), 0],
])('a model %s is checked once while the rest is received', async (_, bytes, checks) => {
  const check = vi.fn(async () => {});
  const { dispose } = await receiveForm(
    { ...from(bytes), check },
    new SpoolStore(join(home, 'checked')),
    neverAborted,
  );
  dispose();
  expect(check.mock.calls).toEqual(Array(checks).fill(['m']));
});

test('the rest of a form is not received when nothing serves its model', async () => {
  const unserved = new Error('no route');
  let taken = 0;
  const receive: ReceiveBody = (take, signal) =>
    sending(MODEL_FIRST)((chunk) => {
      taken += chunk.length;
      return take(chunk);
    }, signal);
  const check = () => Promise.reject(unserved);
  const spools = new SpoolStore(join(home, 'unserved'));
  await expect(receiveForm({ contentType: TYPE, receive, check }, spools, neverAborted)).rejects.toBe(
    unserved,
  );
  expect(taken).toBe(2 * 65_536);
});
