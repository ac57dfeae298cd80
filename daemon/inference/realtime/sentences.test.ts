import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChatRequest, chatBody } from './chat-body.ts';
import { SpokenPieces } from './chat-pieces.ts';
import { type Item, spokenUntil } from './items.ts';
import { addText, NO_SENTENCE, speakable } from './sentences.ts';

const split = (...parts: string[]): string[] => {
  let state = NO_SENTENCE;
  const all: string[] = [];
  for (const part of parts) {
    const [next, done] = addText(state, part);
    state = next;
    all.push(...done);
  }
  return [...all, state.rest];
};

describe('sentences', () => {
  test.each([
    [
      ['Hello. How are you today? ', 'Fine.'],
      ['Hello.', ' How are you today? Fine.'],
    ],
    [
      ['It costs 3.50 euros at Dr. Smith’s. ', 'Yes it does.'],
      ['It costs 3.50 euros at Dr. Smith’s.', ' Yes it does.'],
    ],
    [['She said “go!” and left. More'], ['She said “go!”', ' and left. More']],
    [['こんにちは。元気ですか'], ['こんにちは。', '元気ですか']],
    [['No end yet'], ['No end yet']],
    [['A list:\n- one thing that is longer\n- two'], ['A list:\n', '- one thing that is longer\n', '- two']],
  ])('%j', (parts, expected) => expect(split(...parts)).toEqual(expected));

  test('nothing is lost or added, and no sentence is too long, for any chunking', () => {
    const text = fc
      .array(
        fc.oneof(
          fc.constantFrom('. ', '! ', ', ', '\n', 'Dr. ', '3.5', '。', '😀', ' '),
          fc.string(),
          fc.constant('word '.repeat(90)),
        ),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(400), { maxLength: 6 }), (whole, cuts) => {
        const at = [0, ...cuts.filter((cut) => cut <= whole.length).sort((a, b) => a - b), whole.length];
        const pieces = split(...at.slice(1).map((end, index) => whole.slice(at[index], end)));
        expect(pieces.join('')).toBe(whole);
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(400);
      }),
    );
  });

  test.each([
    ['marks', '.'.repeat(10_000)],
    ['punctuation and words', `${'!'.repeat(5_000)} and ${'.'.repeat(5_000)}`],
    ['words', 'word'.repeat(100_000)],
  ])('a long run of %s takes linear time', (_, text) => {
    const before = process.cpuUsage();
    expect(split(text).join('')).toBe(text);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1_000);
  });

  test.each([
    ['.'.repeat(399), 399],
    ['.'.repeat(400), 400],
    ['.'.repeat(401), 400],
    [`${'.'.repeat(398)}”)`, 400],
  ])('marks at the maximum length (%#)', (marks, end) => {
    expect(split(`${marks} and more`)[0]).toHaveLength(end);
  });

  test.each([
    ['**Bold** and `code` [link](http://x)', 'Bold and code link'],
    ['...', null],
    ['😀 ', null],
    ['  one\n two', 'one two'],
  ])('%j is spoken as %j', (text, spoken) => expect(speakable(text)).toBe(spoken));
});

describe('the spoken part of a response', () => {
  const spoken = [
    { text: 'One two. ', ms: 900 },
    { text: 'Three four five.', ms: 1600 },
  ];
  test.each([
    [0, ''],
    [900, 'One two.'],
    [2500, 'One two. Three four five.'],
    [450, 'One'],
    [1500, 'One two. Three'],
  ])('in %i ms: %j', (ms, text) => expect(spokenUntil(spoken, ms)).toBe(text));
});

describe('the chat request of a conversation', () => {
  const base = { object: 'realtime.item', status: 'completed' } as const;
  const items: Item[] = [
    {
      ...base,
      id: '1',
      type: 'message',
      role: 'user',
      content: [{ type: 'input_audio', transcript: 'what time is it' }],
    },
    {
      ...base,
      id: '2',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_audio', transcript: 'A moment.' }],
    },
    { ...base, id: '3', type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    { ...base, id: '4', type: 'function_call', call_id: 'c2', name: 'g', arguments: '{"a":1}' },
    { ...base, id: '5', type: 'function_call_output', call_id: 'c1', output: '12:00' },
    { ...base, id: '6', type: 'message', role: 'user', content: [{ type: 'input_audio', transcript: null }] },
    { ...base, id: '8', type: 'function_call_output', call_id: 'c2', output: 'rain' },
    {
      ...base,
      id: '7',
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'and here?' },
        { type: 'input_image', image_url: 'data:x' },
      ],
    },
  ];
  const request: ChatRequest = {
    model: 'agent',
    instructions: 'be brief',
    items,
    tools: [],
    toolChoice: 'auto',
    maxOutputTokens: 'inf',
  };

  test('becomes messages', () => {
    expect(chatBody(request)).toEqual({
      model: 'agent',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'what time is it' },
        {
          role: 'assistant',
          content: 'A moment.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '{"a":1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '12:00' },
        { role: 'tool', tool_call_id: 'c2', content: 'rain' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'and here?' },
            { type: 'image_url', image_url: { url: 'data:x' } },
          ],
        },
      ],
    });
  });

  const call = (call_id: string, args: string, status: Item['status'] = 'completed'): Item => ({
    ...base,
    status,
    id: `call-${call_id}`,
    type: 'function_call',
    call_id,
    name: 'f',
    arguments: args,
  });
  const result = (call_id: string): Item => ({
    ...base,
    id: `result-${call_id}`,
    type: 'function_call_output',
    call_id,
    output: `of ${call_id}`,
  });
  const user: Item = {
    ...base,
    id: 'u',
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'wait' }],
  };
  test.each<[string, Item[], string[]]>([
    ['a truncated call', [call('a', '{"x":', 'incomplete'), user, result('a')], ['user wait']],
    ['arguments that are not an object', [call('a', '[1]'), result('a'), user], ['user wait']],
    ['a call without a result', [call('a', '{}'), user], ['user wait']],
    ['a result without a call', [result('a'), user], ['user wait']],
    ['no arguments', [call('a', ''), result('a')], ['assistant a {}', 'tool of a']],
    [
      'a result after other text',
      [call('a', '{}'), call('b', ''), user, result('b'), result('a')],
      ['assistant a {} b {}', 'tool of a', 'tool of b', 'user wait'],
    ],
    [
      'one call after the other',
      [call('a', '{}'), result('a'), call('b', '{}'), result('b')],
      ['assistant a {}', 'tool of a', 'assistant b {}', 'tool of b'],
    ],
  ])('input that engines refuse is left out or corrected: %s', (_, items, expectedLines) => {
    type Message = {
      role: string;
      content: string | null;
      tool_calls?: { id: string; function: { arguments: string } }[];
    };
    const { messages } = chatBody({ ...request, instructions: '', items: items }) as { messages: Message[] };
    const lines = messages.map(({ role, content, tool_calls = [] }) =>
      [role, content ?? '', ...tool_calls.map(({ id, function: f }) => `${id} ${f.arguments}`)]
        .filter((word) => word !== '')
        .join(' '),
    );
    expect(lines).toEqual(expectedLines);
  });

  test('tools and limits', () => {
    const tools = [{ type: 'function' as const, name: 'f', parameters: { type: 'object' } }];
    const body = chatBody({
      ...request,
      tools,
      toolChoice: { type: 'function', name: 'f' },
      maxOutputTokens: 9,
    });
    expect(body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      max_tokens: 9,
    });
  });
});

describe('chunks of a chat', () => {
  test.each([
    [{ choices: [{ delta: { content: 'a' } }] }, [{ kind: 'text', text: 'a' }]],
    [{ choices: [{ delta: { reasoning_content: 'hm' } }] }, []],
    [
      {
        choices: [
          {
            delta: { tool_calls: [{ index: 0, id: 'x', function: { name: 'f', arguments: '{' } }] },
            finish_reason: 'tool_calls',
          },
        ],
      },
      [
        { kind: 'call', index: 0, name: 'f', arguments: '' },
        { kind: 'call', index: 0, name: '', arguments: '{' },
        { kind: 'finish', reason: 'tool_calls' },
      ],
    ],
    [
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
      [{ kind: 'tokens', tokens: { input: 1, output: 2 } }],
    ],
  ])('%j', (event, pieces) => expect(new SpokenPieces().read(event)).toEqual(pieces));

  test('calls that share a number are separated', () => {
    const pieces = new SpokenPieces();
    const calls = ['x', 'y'].flatMap((id) => {
      const call = { index: 0, id, function: { name: `f${id}`, arguments: '{"a":1}' } };
      return pieces.read({ choices: [{ delta: { tool_calls: [call] } }] });
    });
    expect(calls).toEqual([
      { kind: 'call', index: 0, name: 'fx', arguments: '' },
      { kind: 'call', index: 0, name: '', arguments: '{"a":1}' },
      { kind: 'call', index: 1, name: 'fy', arguments: '' },
      { kind: 'call', index: 1, name: '', arguments: '{"a":1}' },
    ]);
  });

  test('of any shape cause no failure', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('choices', 'usage', 'x'), fc.jsonValue()),
        (event) => void new SpokenPieces().read(event),
      ),
    );
  });
});
