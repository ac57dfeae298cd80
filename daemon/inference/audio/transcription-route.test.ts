import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { NO_UPSTREAMS, type Upstreams } from '../ports.ts';
import { upstreamCall, upstreamConfigOf } from '../testing/builders.ts';
import { post } from '../testing/client.ts';
import { closeAfterEach, closers } from '../testing/forwarding.ts';
import { listen, openGateway, TestSlots } from '../testing/gateway.ts';

closeAfterEach();

const PATH = '/v1/audio/transcriptions';
const TYPE = { 'content-type': 'multipart/form-data; boundary=xyz' };
const form = (model: string): Buffer =>
  Buffer.from(`--xyz\r\ncontent-disposition: form-data; name="model"\r\n\r\n${model}\r\n--xyz--\r\n`);
const HTML = { 'content-type': 'text/html', 'retry-after': '7' };
const JSON_TYPE = { 'content-type': 'application/json' };

/** Transcribes with an upstream and with a slot of the given runner that fail in this way. */
async function fail(
  model: 'far' | 'near',
  runner: string,
  status: number,
  headers: Record<string, string>,
  body: string,
) {
  const engine = await listen((req, res) => {
    req.resume();
    res.writeHead(status, headers).end(body);
  });
  const slots = new TestSlots([
    slotRecord({ name: 'near', type: 'stt', model: 'ear', engine: 'speech', runner }),
  ]);
  slots.engine = engine.origin;
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => [upstreamConfigOf({ name: 'up', models: ['far'] })],
    connect: () => upstreamCall({ origin: engine.origin }),
  };
  const gateway = await openGateway({ slots, upstreams });
  closers.push(engine.close, gateway.close);
  const answer = await post(gateway.origin, PATH, form(model), TYPE);
  return { ...answer, error: JSON.parse(answer.body).error };
}

test.each([
  [503, HTML, '<html>nginx</html>', 503, 'upstream.error'],
  [500, { 'content-type': 'text/plain' }, 'Internal Server Error', 502, 'upstream.error'],
  [404, JSON_TYPE, '{"detail":"Not Found"}', 404, 'upstream.error'],
  [500, JSON_TYPE, '{"error":{"message":"cuda oom","code":null}}', 500, null],
  [400, JSON_TYPE, '{"error":{"message":"ffmpeg: invalid data"}}', 415, 'audio.unsupported_format'],
])('a %d of an upstream keeps its class: %o', async (status, headers, body, expected, code) => {
  const answer = await fail('far', 'process', status, headers, body);
  expect([answer.status, answer.error.code]).toEqual([expected, code]);
  if (expected === 503) expect(answer.headers['retry-after']).toBe('7');
});

const LONG = {
  error: { code: 'request.invalid', message: `language: ${'xx, '.repeat(99)}`, param: 'language' },
};

test('a long error of a worker of the gateway is relayed, one of another engine is not', async () => {
  const worker = await fail('near', 'worker', 422, JSON_TYPE, JSON.stringify(LONG));
  expect([worker.status, worker.error]).toEqual([422, LONG.error]);
  const other = await fail('near', 'process', 422, JSON_TYPE, JSON.stringify(LONG));
  expect([other.status, other.error.param, other.error.code]).toEqual([400, 'language', 'upstream.error']);
});
