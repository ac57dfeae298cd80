import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import type { StoredBody } from '../../kit/outbound.ts';
import type { Receive } from '../serve.ts';
import { receiveForm, Spools } from './received-form.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-form-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const TYPE = 'multipart/form-data; boundary=xyz';
const never = new AbortController().signal;
const MODEL = '--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n';
const form = (size: number): Buffer =>
  Buffer.concat([
    Buffer.from('--xyz\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'),
    Buffer.alloc(size, 0x61),
    Buffer.from(`\r\n${MODEL}--xyz--\r\n`),
  ]);
const sending =
  (bytes: Buffer): Receive =>
  async (take) => {
    for (let at = 0; at < bytes.length; at += 65_536) await take(bytes.subarray(at, at + 65_536));
  };

test('a small form stays in memory, a large one does not; both are what was sent', async () => {
  const spools = new Spools(join(home, 'spool'));
  for (const size of [10, 3 << 20]) {
    const bytes = form(size);
    const received = await receiveForm(TYPE, sending(bytes), spools, never);
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

test('what lies on the disk at once is bounded, and let go again', async () => {
  const spools = new Spools(join(home, 'small'), 3 << 20);
  const first = await receiveForm(TYPE, sending(form(2 << 20)), spools, never);
  await expect(receiveForm(TYPE, sending(form(2 << 20)), spools, never)).rejects.toMatchObject({
    code: 'audio.no_room',
    status: 503,
  });
  first.dispose();
  const again = await receiveForm(TYPE, sending(form(2 << 20)), spools, never);
  again.dispose();
});

test('a place that cannot be written is 503', async () => {
  writeFileSync(join(home, 'file'), 'no folder');
  const spools = new Spools(join(home, 'file', 'spool'));
  await expect(receiveForm(TYPE, sending(form(2 << 20)), spools, never)).rejects.toMatchObject({
    code: 'audio.no_room',
  });
});

test('what a sender is refused with is passed on', async () => {
  const broken = new Error('broken off');
  const spools = new Spools(join(home, 'spool'));
  await expect(receiveForm(TYPE, () => Promise.reject(broken), spools, never)).rejects.toBe(broken);
  await expect(receiveForm('text/plain', sending(form(1)), spools, never)).rejects.toMatchObject({
    code: 'request.unsupported_type',
  });
});
