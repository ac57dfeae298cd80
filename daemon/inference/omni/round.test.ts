import { expect, test } from 'vitest';
import { readRound } from './round.ts';

/** One round with the complete response `message`. */
function round(message: object, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] });
  const answer = {
    status: 200,
    headers: { 'content-type': 'application/json', ...headers },
    body: (async function* () {
      yield Buffer.from(body);
    })(),
    inBandError: () => null,
    abort: () => {},
  };
  const emitter = { text: async () => {} } as never;
  return readRound(answer, emitter, () => 'call_1');
}

const far = { 'x-svc-upstream': 'groq' };

test.each([
  [{ reasoning: 'hm', content: 'yes' }, far, { reasoning: 'hm' }],
  [{ reasoning_content: 'hm', content: 'yes' }, far, { reasoning_content: 'hm' }],
  [{ reasoning: 'hm', content: 'yes' }, {}, { reasoning_content: 'hm' }],
  [{ content: [{ type: 'thinking', thinking: 'hm' }] }, far, {}],
])('reasoning of %j from %j goes back as %j', async (message, headers, thoughts) => {
  expect((await round(message, headers)).thoughts).toEqual(thoughts);
});
