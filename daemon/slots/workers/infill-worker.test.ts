import { expect, test } from 'vitest';
import { TINY_REPLY } from '../../models/testing/gguf/tiny-chat.ts';
import { startTestWorker, TEXT } from './testing/worker-client.ts';

const { request } = startTestWorker({ infill: true });

test("fills the gap before a suffix with the model's tokens", async () => {
  const answer = await request(TEXT, { prompt: 'def add(', suffix: '\n', temperature: 0, echo: true });
  expect(answer).toMatchObject({
    status: 200,
    choices: [{ text: `def add(${TINY_REPLY}`, finish_reason: 'stop' }],
    usage: { prompt_tokens: 'def add('.length + 1 + 3 },
  });
});
