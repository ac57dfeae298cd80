import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { post } from '../testing/client.ts';
import { closeAfterEach, setUp } from '../testing/forwarding.ts';
import { REPORT_AFTER_MS } from './await-lease.ts';

closeAfterEach();

test('a complete transcript after a long load is sent as events', async () => {
  const { gateway, slots } = await setUp((req, res) => {
    req.resume();
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('{"text":"one two"}');
  });
  slots.records = [slotRecord({ name: 'stt', type: 'stt', model: 'whisper', engine: 'custom' })];
  slots.before = async (_, { onDecided }) => {
    onDecided?.();
    await new Promise((done) => setTimeout(done, REPORT_AFTER_MS + 200));
  };
  const field = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const form = `${field('model', 'stt')}${field('stream', 'true')}--b--\r\n`;
  const type = { 'content-type': 'multipart/form-data; boundary=b' };
  const { status, body, whole } = await post(gateway.origin, '/v1/audio/transcriptions', form, type);
  expect([status, whole]).toEqual([200, true]);
  expect(body).toBe(
    ': loading\n\n' +
      'data: {"type":"transcript.text.delta","delta":"one two"}\n\n' +
      'data: {"type":"transcript.text.done","text":"one two"}\n\n',
  );
  expect(gateway.log).toMatchObject([{ status: 200, error: null }]);
});
