import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { slotRecord } from '../contract/testing/slot-record.ts';
import { swappedError } from '../slots/refusals.ts';
import { InternalResponse } from './internal-response.ts';
import { NO_UPSTREAMS, type Upstreams } from './ports.ts';
import { upstreamCall, upstreamConfigOf } from './testing/builders.ts';
import { post, readAll, type TestResponse } from './testing/client.ts';
import { CHAT, closeAfterEach, hello, setUp } from './testing/forwarding.ts';

closeAfterEach();

const WAITED_MS = 500;
const overhead = ({ headers }: Pick<TestResponse, 'headers'>) => Number(headers['x-svc-overhead-ms']);
const setUpFast = () => setUp((_req, res) => res.end('{}'));

/** Waits for others are far above this, the gateway's own work far below. */
function expectOwnOnly(ms: number): void {
  expect(ms).toBeGreaterThan(0);
  expect(ms).toBeLessThan(WAITED_MS / 2);
}

test('excludes the time of receiving the body', async () => {
  const { gateway } = await setUpFast();
  const answer = await new Promise<TestResponse>((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const req = request(`${gateway.origin}${CHAT}`, { method: 'POST', headers });
    req.once('response', (res) => void readAll(res).then(resolve, reject)).once('error', reject);
    const text = JSON.stringify(hello);
    req.write(text.slice(0, 5));
    setTimeout(() => req.end(text.slice(5)), WAITED_MS);
  });
  expectOwnOnly(overhead(answer));
});

test('excludes the time of an audio upload', async () => {
  const { gateway, slots } = await setUpFast();
  slots.records = [slotRecord({ name: 'stt', type: 'stt', model: 'hears' })];
  const part = (name: string, text: string) =>
    `--xyz\r\nContent-Disposition: form-data; ${name}\r\n\r\n${text}\r\n`;
  const res = new InternalResponse(new AbortController().signal);
  const running = gateway.inference.transcriptions({
    id: 'r1',
    route: 'v1.transcriptions',
    path: '/v1/audio/transcriptions',
    tier: 'client',
    req: { url: '', headers: { 'content-type': 'multipart/form-data; boundary=xyz' } },
    res,
    body: Buffer.alloc(0),
    receive: async (take) => {
      await take(Buffer.from(part('name="model"', 'hears')));
      await pause(WAITED_MS);
      await take(Buffer.from(`${part('name="file"; filename="a"', 'sound')}--xyz--\r\n`));
    },
    receivedAt: performance.now(),
  });
  expectOwnOnly(overhead((await res.head) as Pick<TestResponse, 'headers'>));
  res.destroy();
  await running;
});

test('excludes the wait of a request that is dispatched again', async () => {
  const { gateway, slots } = await setUpFast();
  let swapsLeft = 1;
  slots.before = async () => {
    await pause(WAITED_MS);
    if (swapsLeft-- > 0) throw swappedError('agent');
  };
  expectOwnOnly(overhead(await post(gateway.origin, CHAT, hello)));
});

test('excludes fetching the lists of cold upstreams', async () => {
  const cloud = await setUpFast();
  let isCold = true;
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => [upstreamConfigOf({ name: 'cloud', isCold, models: isCold ? [] : ['far'] })],
    refreshCold: async () => {
      await pause(WAITED_MS);
      isCold = false;
    },
    connect: () => upstreamCall({ origin: cloud.engine.origin }),
  };
  const { gateway } = await setUp(() => {}, { upstreams });
  const answer = await post(gateway.origin, CHAT, { ...hello, model: 'far' });
  expect(answer.headers['x-svc-step']).toBe('upstream-live');
  expectOwnOnly(overhead(answer));
});
