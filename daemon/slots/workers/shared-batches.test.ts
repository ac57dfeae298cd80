import { expect, test } from 'vitest';
import { startTestWorker, TEXT } from './testing/worker-client.ts';

/** Slow enough for requests to overlap: a token takes about as long as a request needs to arrive. */
const { request, worker } = startTestWorker(
  { layers: 2, width: 1024, context: 512 },
  { context: 512, parallel: 4 },
);

const TOKENS = 300;
const complete = (prompt: string, tokens: number) =>
  request(TEXT, { prompt, max_tokens: tokens, temperature: 0 });

/** Returns the batches decoded and tokens generated while `work` runs. */
async function spent(work: () => Promise<unknown>): Promise<{ batches: number; tokens: number }> {
  const before = await worker().health();
  await work();
  const after = await worker().health();
  return {
    batches: (after.batches ?? Number.NaN) - (before.batches ?? Number.NaN),
    tokens: after.tokens_generated - before.tokens_generated,
  };
}

test('four concurrent requests share their batches and need about as many as one of them', async () => {
  const alone = await spent(() => complete('abc', TOKENS));
  expect(alone).toEqual({ batches: TOKENS, tokens: TOKENS });
  const together = await spent(() =>
    Promise.all(['bcd', 'cde', 'def', 'efg'].map((p) => complete(p, TOKENS))),
  );
  expect(together.tokens).toBe(4 * TOKENS);
  expect(together.batches).toBeGreaterThanOrEqual(TOKENS);
  expect(together.batches).toBeLessThan(1.5 * TOKENS);
}, 60_000);
