import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readAll, send, until } from '../testing/client.ts';
import { CHAT, closeAfterEach, delta, hello, SSE, startWithManualEngine } from '../testing/forwarding.ts';

closeAfterEach();

const WAITED_MS = 120;

/** Returns the log and the metrics of a chat whose engine sends `first`, pauses, then sends a token. */
async function served(first: string) {
  const { gateway, responses } = await startWithManualEngine();
  const { head } = send(gateway.origin, CHAT, JSON.stringify({ ...hello, stream: true }));
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, SSE);
  responses[0]?.write(first);
  const res = await head;
  await pause(WAITED_MS);
  responses[0]?.end(`${delta('word')}data: [DONE]\n\n`);
  const { body } = await readAll(res);
  await until(() => gateway.log.length === 1);
  return { body, record: gateway.log[0], count: gateway.finished[0] };
}

test('comments of an engine pass and do not count as first byte', async () => {
  const comments = ': reading the prompt\n\n: still\n\n';
  const { body, record, count } = await served(comments);
  expect(body).toBe(`${comments}${delta('word')}data: [DONE]\n\n`);
  expect(record?.ttft_ms).toBeGreaterThan(WAITED_MS - 5);
  expect(count?.firstByteS).toBeGreaterThan((WAITED_MS - 5) / 1000);
});

test('an event is the first byte', async () => {
  const { record } = await served(delta('first'));
  expect((record?.duration_ms ?? 0) - (record?.ttft_ms ?? 0)).toBeGreaterThan(WAITED_MS - 5);
});
