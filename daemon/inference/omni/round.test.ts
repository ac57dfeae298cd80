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
  const writer = { text: async () => {} } as never;
  return readRound(answer, writer, () => 'call_1');
}

const far = { 'x-svc-upstream': 'groq' };

test.each([
  [{ reasoning: 'hm', content: 'yes' }, far, { reasoning: 'hm' }],
  [{ reasoning_content: 'hm', content: 'yes' }, far, { reasoning_content: 'hm' }],
  [{ reasoning: 'hm', content: 'yes' }, {}, { reasoning: 'hm' }],
  [{ reasoning_content: 'hm', content: 'yes' }, {}, { reasoning_content: 'hm' }],
  [{ content: [{ type: 'thinking', thinking: 'hm' }] }, far, {}],
])('reasoning of %j from %j is sent back as %j', async (message, headers, thoughts) => {
  expect((await round(message, headers)).thoughts).toEqual(thoughts);
});

/** One round with a stream of these deltas. */
function streamedRound(...deltas: object[]) {
  const events = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  ];
  const answer = {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: (async function* () {
      for (const event of events) yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
      yield Buffer.from('data: [DONE]\n\n');
    })(),
    inBandError: () => null,
    abort: () => {},
  };
  return readRound(answer, { text: async () => {} } as never, () => 'call_1');
}

const fragment = (fields: object, name: string | null, args: unknown) => ({
  tool_calls: [{ ...fields, function: { name, arguments: args } }],
});

test.each<[string, object[], [name: string, text: string][]]>([
  [
    'interleaved',
    [
      fragment({ index: 0, id: 'a' }, 'f', ''),
      fragment({ index: 1, id: 'b' }, 'g', '{"y":'),
      fragment({ index: 0 }, null, '{"x":1}'),
      fragment({ index: 1 }, null, '2}'),
    ],
    [
      ['f', '{"x":1}'],
      ['g', '{"y":2}'],
    ],
  ],
  [
    'without numbers',
    [fragment({ id: 'a' }, 'f', '{"x":'), fragment({ id: 'a' }, '', '1}'), fragment({ id: 'b' }, 'g', '{}')],
    [
      ['f', '{"x":1}'],
      ['g', '{}'],
    ],
  ],
  [
    'with a late name',
    [fragment({ index: 0, id: 'a' }, null, '{}'), fragment({ index: 0 }, 'f', '')],
    [['f', '{}']],
  ],
  ['with null arguments', [fragment({ index: 0, id: 'a' }, 'f', null)], [['f', '']]],
  ['with the text null', [fragment({ index: 0, id: 'a' }, 'f', 'null')], [['f', '']]],
  [
    'in function_call',
    [{ function_call: { name: 'f', arguments: '{"x"' } }, { function_call: { arguments: ':1}' } }],
    [['f', '{"x":1}']],
  ],
])('calls %s', async (_, deltas, expected) => {
  const { calls } = await streamedRound(...deltas);
  expect(calls.map(({ name, arguments: text }) => [name, text])).toEqual(expected);
});
