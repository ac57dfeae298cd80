import { expect, test, vi } from 'vitest';
import { CHATML } from '../../models/testing/gguf/chat-templates.ts';
import { startTestWorker, TEXT } from './testing/worker-client.ts';

/**
 * Maximum time in ms until the engine is free after a disconnect: five times the target, for a busy machine.
 */
const FREE_WITHIN = 5 * 250;
const LONG = 14_000;

const { request, worker } = startTestWorker(
  { template: CHATML, layers: 2, width: 1024, context: 16_384 },
  { context: 16_384, parallel: 1 },
);
const answers = (prompt: string) => request(TEXT, { prompt, max_tokens: 1, temperature: 0 });

test.each([1, 400])(
  'a disconnect %i ms into a long prompt frees the engine at once',
  async (after) => {
    const { timings } = await answers('b'.repeat(1_000));
    const whole = LONG * (timings?.prompt_per_token_ms ?? 0);
    expect(whole, 'the prompt takes far longer than the limit').toBeGreaterThan(3 * FREE_WITHIN);

    const leaving = new AbortController();
    const pending = worker().post(
      TEXT,
      { prompt: 'a'.repeat(LONG), max_tokens: 1 },
      { signal: leaving.signal },
    );
    pending.catch(() => {});
    await vi.waitFor(async () => expect((await worker().health()).active).toBe(1), 10_000);
    await new Promise((resolve) => setTimeout(resolve, after));
    expect((await worker().health()).active).toBe(1);
    const left = performance.now();
    leaving.abort();
    expect((await answers('abc')).choices[0]?.text).toBe('d');
    expect(performance.now() - left).toBeLessThan(FREE_WITHIN);
  },
  60_000,
);
