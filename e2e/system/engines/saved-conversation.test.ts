/** Time to the first token after a swap, with a saved conversation and without, on real models (ADR-0063, 0075, 0076). */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { forTest } from '../../../daemon/test/harness/one-gateway.ts';
import { runSlotAction, waitForIdleSlot } from '../../../daemon/test/harness/slots.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';
import { qwen25, smollm2 } from '../harness/real-models.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

/** A saved conversation takes at most this share of the time of reading it again. */
const MAX_SHARE = 0.25;
const WORDS = 'the cat sat on a mat and then'.split(' ');
const REQUEST_LIMIT_MS = 590_000;

const history = (words: number): string =>
  Array.from({ length: words }, (_, index) => WORDS[index % WORDS.length]).join(' ');

interface Row {
  readonly name: string;
  readonly download: () => Promise<string>;
  readonly words: number;
  readonly context: number;
}

/** The other rows take minutes each: `npm run test:system -- --with models`. */
const hasAll = (process.env.SVC_TEST_WITH ?? '').split(',').includes('models');
const ALL_ROWS: readonly Row[] = [
  { name: 'SmolLM2 135M', download: smollm2, words: 6000, context: 8192 },
  // Reading 16,000 tokens takes more than ten minutes on two cores (ADR-0073).
  { name: 'Qwen2.5-Coder 0.5B', download: qwen25, words: 3000, context: 4096 },
];

const ROWS = hasAll ? ALL_ROWS : ALL_ROWS.slice(0, 1);

const program = hasAll ? part('llama-server') : null;
const ENGINES = [
  { engine: 'embedded', keys: '' },
  ...(program === null
    ? []
    : [
        { engine: 'llama-server', keys: `engine = "llama-server"\ncommand = ${JSON.stringify([program])}\n` },
      ]),
];

/** Returns the milliseconds until the first token of an answer, and the tokens that were not computed. */
async function measure(
  gateway: Gateway,
  words: number,
): Promise<{ ms: number; cached: number; tokens: number }> {
  const started = performance.now();
  const messages = [{ role: 'user', content: history(words) }];
  const body = { model: 'agent', messages, max_tokens: 1, temperature: 0 };
  const response = await send(gateway, 'POST', '/v1/chat/completions', {
    body,
    idleTimeoutMs: REQUEST_LIMIT_MS,
  });
  const ms = performance.now() - started;
  expect(response.status, response.text).toBe(200);
  const { usage } = response.json<{
    usage: { prompt_tokens: number; prompt_tokens_details?: { cached_tokens: number } };
  }>();
  await waitForIdleSlot(gateway, 'agent');
  return { ms, cached: usage.prompt_tokens_details?.cached_tokens ?? 0, tokens: usage.prompt_tokens };
}

describe.each(ROWS)('$name', ({ name, download, words, context }) => {
  it.each(ENGINES)(
    'with engine $engine a saved conversation takes at most a quarter of the time',
    async ({ engine, keys }) => {
      const model = await availableOrSkip(`${name} in ${engine}`, download);
      if (model === null || !existsSync(model)) return;
      const gateway = await forTest(
        startGateway({
          env: { SVC_MODEL: model },
          files: {
            'config/slots/agent.toml': `${keys}context = ${context}\nparallel = 1\ndevice = "cpu"\nautoload = false\n`,
            'config/config.toml': `[kv_cache]\npersist = "disk"\n[inference]\nidle_timeout_s = 600\n`,
          },
        }),
      );
      await measure(gateway, 10);
      await runSlotAction(gateway, 'agent', 'unload');
      await send(gateway, 'DELETE', '/api/kv-cache');
      const computed = await measure(gateway, words);
      await runSlotAction(gateway, 'agent', 'unload');
      const restored = await measure(gateway, words);
      const seconds = (ms: number) => (ms / 1000).toFixed(1);
      console.info(
        `saved conversation, ${name}, ${engine}: ${computed.tokens} tokens, ${seconds(computed.ms)} s computed, ${seconds(restored.ms)} s restored`,
      );
      expect(computed.cached).toBeLessThan(100);
      expect(restored.cached).toBeGreaterThan(restored.tokens * 0.9);
      expect(restored.ms).toBeLessThan(computed.ms * MAX_SHARE);
    },
    1_200_000,
  );
});
