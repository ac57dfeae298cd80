import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TINY_REPLY, tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { type ForkedWorker, forkWorker, modelFile, readEvents } from './testing/forked-worker.ts';

const CHAT = '/v1/chat/completions';
const TEXT = '/v1/completions';

interface Answer {
  status: number;
  choices: { text?: string; message?: { content: string } }[];
  error?: object;
}

let worker: ForkedWorker;
let file: Awaited<ReturnType<typeof modelFile>>;

beforeAll(async () => {
  file = await modelFile(tinyChat());
  worker = await forkWorker(file.path, { context: 2048 });
  await worker.ready;
}, 30_000);
afterAll(async () => {
  await worker.stop();
  await file.remove();
});

const request = async (path: string, body: object): Promise<Answer> => {
  const response = await worker.post(path, body);
  return { ...((await response.json()) as Answer), status: response.status };
};

const endless = { prompt: `${'.'.repeat(10)}a`, temperature: 0, stream: true };
const idle = () =>
  vi.waitFor(async () => expect(await worker.health()).toMatchObject({ active: 0, queued: 0 }), 5_000);

test('serves more callers than sequences, in turn', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      request(TEXT, { prompt: `caller ${i}: a`, max_tokens: 25, temperature: 0 }),
    ),
  );
  for (const answer of answers) expect(answer.choices[0]?.text).toBe('bcdefghijklmnopqrstuvwxyz');
  await idle();
});

test('a disconnect from a stream stops its work', async () => {
  const before = (await worker.health()).tokens_generated;
  const leaving = new AbortController();
  const response = await worker.post(TEXT, endless, { signal: leaving.signal });
  let read = 0;
  await expect(async () => {
    for await (const _ of readEvents(response)) if (++read === 20) leaving.abort();
  }).rejects.toThrow();
  await idle();
  expect((await worker.health()).tokens_generated - before).toBeLessThan(400);
});

test('releases a caller that disconnects while waiting for an answer or in the queue', async () => {
  const leaving = new AbortController();
  const { stream: _, ...whole } = endless;
  const responses = Array.from({ length: 6 }, () => worker.post(TEXT, whole, { signal: leaving.signal }));
  await vi.waitFor(async () => expect((await worker.health()).queued).toBeGreaterThan(0), 5_000);
  leaving.abort();
  expect(
    (await Promise.allSettled(responses)).filter((result) => result.status === 'rejected').length,
  ).toBeGreaterThan(0);
  await idle();
  expect(
    (await request(CHAT, { messages: [{ role: 'user', content: 'still there?' }] })).choices[0]?.message
      ?.content,
  ).toBe(TINY_REPLY);
});

test('responds with 429 when the queue is full', async () => {
  const responses = await Promise.all(
    Array.from({ length: 14 }, (_, i) => request(TEXT, { prompt: `${'.'.repeat(i)}a`, max_tokens: 300 })),
  );
  const refused = responses.filter((answer) => answer.status === 429);
  expect(responses.filter((answer) => answer.status === 200).length + refused.length).toBe(14);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.error).toMatchObject({ code: 'slot.queue_full', type: 'rate_limit_error' });
});
