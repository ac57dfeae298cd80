import fc from 'fast-check';
import { expect, test } from 'vitest';
import { post } from '../testing/client.ts';
import { BODIES, chunk, eventsOf, MESSAGES, PATHS, type Path, RESPONSES } from '../testing/dialects.ts';
import { closeAfterEach, SSE, setUp } from '../testing/forwarding.ts';
import { asList, asObject, callArguments, type Json } from './json.ts';
import { messages } from './messages/messages.ts';
import { responses } from './responses/responses.ts';

closeAfterEach();

const DIALECTS = { [RESPONSES]: responses, [MESSAGES]: messages } as const;
const BY = { model: 'm', upstream: null };
const translationOf = (path: Path) =>
  DIALECTS[path](Buffer.from(JSON.stringify({ ...BODIES[path], stream: true })), null);

/** The texts and calls of a message, without generated ids. */
interface Content {
  text: string;
  reasoning: string;
  calls: { id: string; name: string; args: unknown }[];
}
const byId = (content: Content): Content => ({
  ...content,
  calls: content.calls.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
});

/** Reads a message as a client of the Messages API does. Checks that blocks follow each other. */
function messageOf(events: readonly Json[]): Content {
  const content: Content = { text: '', reasoning: '', calls: [] };
  let open: { index: number; args: string; call: Content['calls'][number] | null } | null = null;
  let blocks = 0;
  for (const event of events) {
    if (event.type === 'content_block_start') {
      expect(open).toBeNull();
      expect(event.index).toBe(blocks++);
      const { type, id, name } = event.content_block as Json;
      const call = type === 'tool_use' ? { id: String(id), name: String(name), args: {} as unknown } : null;
      if (call) content.calls.push(call);
      open = { index: event.index as number, args: '', call };
    } else if (event.type === 'content_block_delta') {
      expect(open?.index).toBe(event.index);
      const delta = event.delta as Record<string, string>;
      content.text += delta.text ?? '';
      content.reasoning += delta.thinking ?? '';
      if (open) open.args += delta.partial_json ?? '';
    } else if (event.type === 'content_block_stop') {
      if (open?.call && open.args.trim() !== '') open.call.args = JSON.parse(open.args);
      open = null;
    }
  }
  expect(events.at(-1)?.type).toBe('message_stop');
  return byId(content);
}

/** Reads a response as a client of the Responses API does. Checks that items follow each other. */
function responseOf(events: readonly Json[]): Content {
  let open: unknown = null;
  const deltas = new Map<unknown, string>();
  for (const event of events) {
    if (event.type === 'response.output_item.added') {
      expect(open).toBeNull();
      open = event.output_index;
    } else if (event.type === 'response.output_item.done') {
      expect(event.output_index).toBe(open);
      open = null;
      const { type, id, arguments: text } = event.item as Json;
      if (type === 'function_call') expect(deltas.get(id)).toBe(text);
    } else if (event.type === 'response.function_call_arguments.delta') {
      expect(event.output_index).toBe(open);
      deltas.set(event.item_id, (deltas.get(event.item_id) ?? '') + String(event.delta));
    }
  }
  const last = events.at(-1);
  expect(last?.type).toBe('response.completed');
  return outputOf(asList(asObject(last?.response)?.output));
}

function outputOf(output: readonly unknown[]): Content {
  const content: Content = { text: '', reasoning: '', calls: [] };
  for (const item of output as Record<string, string>[]) {
    if (item.type === 'function_call')
      content.calls.push({
        id: item.call_id ?? '',
        name: item.name ?? '',
        args: JSON.parse(item.arguments ?? ''),
      });
    for (const part of asList(item.content) as Record<string, string>[])
      content[item.type === 'reasoning' ? 'reasoning' : 'text'] += part.text ?? '';
  }
  return byId(content);
}

function blocksOf(message: Json): Content {
  const content: Content = { text: '', reasoning: '', calls: [] };
  for (const block of asList(message.content) as Record<string, string>[]) {
    content.text += block.text ?? '';
    content.reasoning += block.thinking ?? '';
    if (block.type === 'tool_use')
      content.calls.push({ id: block.id ?? '', name: block.name ?? '', args: asObject(block.input) });
  }
  return byId(content);
}

const READERS = { [RESPONSES]: responseOf, [MESSAGES]: messageOf } as const;

/** Translates a stream of deltas without a network. */
function streamed(path: Path, deltas: readonly Json[]): Content {
  const events = translationOf(path).events(BY);
  const text = [
    events.open(),
    ...deltas.map((delta) => events.chunk({ choices: [{ index: 0, delta }] })),
    events.chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
    events.end(),
  ].join('');
  return READERS[path](eventsOf(text));
}

/** Translates the complete answer. */
function whole(path: Path, message: Json): Content {
  const answer = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
  const body = translationOf(path).whole(answer, BY);
  return path === RESPONSES ? outputOf(asList(body.output)) : blocksOf(body);
}

const call = (index: number | null, id: string | null, name: string | null, args: unknown): Json => ({
  ...(index === null ? {} : { index }),
  ...(id === null ? {} : { id }),
  function: { ...(name === null ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});
const calls = (...list: Json[]): Json => ({ tool_calls: list });
const made = (...list: [id: string, name: string, args: object][]): Content['calls'] =>
  list.map(([id, name, args]) => ({ id, name, args }));

const ROWS: [what: string, deltas: Json[], expected: Content['calls']][] = [
  [
    'interleaved after both have begun',
    [
      calls(call(0, 'a', 'f', ''), call(1, 'b', 'g', '')),
      calls(call(0, null, null, '{"x":'), call(1, null, null, '{"y":2}')),
      calls(call(0, null, null, '1}')),
    ],
    made(['a', 'f', { x: 1 }], ['b', 'g', { y: 2 }]),
  ],
  [
    'the higher number first',
    [
      calls(call(1, 'b', 'g', '{"y"')),
      calls(call(0, 'a', 'f', '{"x"')),
      calls(call(1, null, null, ':2}'), call(0, null, null, ':1}')),
    ],
    made(['a', 'f', { x: 1 }], ['b', 'g', { y: 2 }]),
  ],
  [
    'without numbers, by id',
    [
      calls(call(null, 'a', 'f', '')),
      calls(call(null, 'b', 'g', '')),
      calls(call(null, 'a', '', '{"x":1}')),
      calls(call(null, 'b', null, '{}')),
    ],
    made(['a', 'f', { x: 1 }], ['b', 'g', {}]),
  ],
  [
    'without numbers, one after the other, id repeated and name empty or null',
    [
      calls(call(null, 'a', 'f', '{"c":')),
      calls({ id: 'a', function: { name: null, arguments: '"Bo' } }),
      calls(call(null, 'a', '', 'x"}')),
      calls(call(null, 'b', 'f', '{"c":"Bag"}')),
    ],
    made(['a', 'f', { c: 'Box' }], ['b', 'f', { c: 'Bag' }]),
  ],
  [
    'without numbers, a new id with every fragment',
    [calls(call(null, 'a', 'f', '{"c":')), calls(call(null, 'zz', null, '1}'))],
    made(['a', 'f', { c: 1 }]),
  ],
  [
    'without numbers, two in one chunk with the same name',
    [calls(call(null, 'a', 'f', '{"c":1}'), call(null, 'b', 'f', '{"c":2}'))],
    made(['a', 'f', { c: 1 }], ['b', 'f', { c: 2 }]),
  ],
  ['empty arguments', [calls(call(0, 'a', 'now', ''))], made(['a', 'now', {}])],
  ['null arguments', [calls(call(0, 'a', 'now', null))], made(['a', 'now', {}])],
  ['the text null', [calls(call(0, 'a', 'now', 'null'))], made(['a', 'now', {}])],
  ['no arguments at all', [calls(call(0, 'a', 'now', undefined))], made(['a', 'now', {}])],
  ['blank arguments', [calls(call(0, 'a', 'now', ' \n'))], made(['a', 'now', {}])],
  [
    'null inside arguments',
    [calls(call(0, 'a', 'f', '{"x":')), calls(call(0, null, null, 'null')), calls(call(0, null, null, '}'))],
    made(['a', 'f', { x: null }]),
  ],
  ['an object for arguments', [calls(call(0, 'a', 'f', { x: 1 }))], made(['a', 'f', { x: 1 }])],
  [
    'an empty object before the text',
    [calls(call(0, 'a', 'f', {})), calls(call(0, null, null, '{"x":1}'))],
    made(['a', 'f', { x: 1 }]),
  ],
  [
    'a name after the arguments have begun',
    [calls(call(0, 'a', null, '{"x"')), calls(call(0, null, 'f', ':1}'))],
    made(['a', 'f', { x: 1 }]),
  ],
  [
    'a name that arrives after that of a later call',
    [calls(call(0, 'a', '', '')), calls(call(1, 'b', 'g', '{"y":2}')), calls(call(0, null, 'f', '{"x":1}'))],
    made(['a', 'f', { x: 1 }], ['b', 'g', { y: 2 }]),
  ],
  [
    'a name and an id in every fragment',
    [calls(call(0, 'a', 'f', '{"x"')), calls(call(0, 'a', 'f', ':1}')), calls(call(0, 'a', 'f', ''))],
    made(['a', 'f', { x: 1 }]),
  ],
  [
    'several under the number 0',
    [calls(call(0, 'a', 'f', '{"x":1}')), calls(call(0, 'b', 'f', '{"x":2}'))],
    made(['a', 'f', { x: 1 }], ['b', 'f', { x: 2 }]),
  ],
  [
    'an argument that contains braces and quotes',
    [
      calls(call(0, 'a', 'f', String.raw`{"x":"}\"{`), call(1, 'b', 'g', '{}')),
      calls(call(0, null, null, '"}')),
    ],
    made(['a', 'f', { x: '}"{' }], ['b', 'g', {}]),
  ],
];

test.each(PATHS.flatMap((path) => ROWS.map((row) => [path, ...row] as const)))(
  '%s: calls with %s',
  (path, _, deltas, expected) => expect(streamed(path, deltas).calls).toEqual(expected),
);

test.each(PATHS)('%s: text that interrupts a call follows it', (path) => {
  const content = streamed(path, [
    { content: 'one ' },
    calls(call(0, 'a', 'f', '{"x":')),
    { content: 'two ' },
    { reasoning_content: 'hm' },
    calls(call(0, null, null, '1}')),
    { content: 'three' },
  ]);
  expect(content).toEqual({ text: 'one two three', reasoning: 'hm', calls: made(['a', 'f', { x: 1 }]) });
});

test.each(PATHS)('%s: the old function_call', (path) => {
  const content = streamed(path, [
    { function_call: { name: 'f', arguments: '' }, tool_calls: [] },
    { function_call: { arguments: '{"x":' } },
    { function_call: { arguments: '1}' } },
  ]);
  expect(content.calls).toEqual([{ id: expect.stringMatching(/^call_/), name: 'f', args: { x: 1 } }]);
  const complete = whole(path, {
    role: 'assistant',
    content: null,
    function_call: { name: 'f', arguments: null },
  });
  expect(complete.calls).toEqual([{ id: expect.stringMatching(/^call_/), name: 'f', args: {} }]);
});

test.each(PATHS)('%s: calls without ids, also in one chunk', (path) => {
  const one = call(null, null, 'f', '{}');
  for (const deltas of [[calls(one, one)], [calls(one), calls(one)]]) {
    expect(streamed(path, deltas).calls).toMatchObject([
      { name: 'f', args: {} },
      { name: 'f', args: {} },
    ]);
  }
});

test.each(PATHS)('%s: a complete answer without arguments', (path) => {
  for (const args of ['', null, 'null', {}, ' ']) {
    const message = { role: 'assistant', content: null, tool_calls: [call(null, 'a', 'now', args)] };
    expect(whole(path, message).calls).toEqual(made(['a', 'now', {}]));
  }
});

/** A legal message: texts and calls with JSON arguments. */
const message = fc.record({
  reasoning: fc.string(),
  text: fc.string(),
  calls: fc.array(
    fc.record({ name: fc.constantFrom('f', 'g'), args: fc.dictionary(fc.string(), fc.jsonValue()) }),
    {
      maxLength: 4,
    },
  ),
});

/** Cuts `text` at some places; at least one part. */
const parts = (text: string, seed: number): string[] => {
  const size = 1 + (seed % 7);
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [''];
};

test.each(PATHS)('%s: any interleaving of a stream gives the message of the complete answer', (path) => {
  fc.assert(
    fc.property(
      message,
      fc.boolean(),
      fc.nat(),
      fc.array(fc.nat(), { minLength: 1 }),
      (made, numbered, seed, picks) => {
        const list = made.calls.map(({ name, args }, index) => ({
          index,
          id: `c${index}`,
          name,
          args: JSON.stringify(args),
        }));
        const queues: Json[][] = [
          parts(made.reasoning, seed).map((text) => ({ reasoning_content: text })),
          parts(made.text, seed).map((text) => ({ content: text })),
          ...list.map(({ index, id, name, args }) =>
            parts(args, seed).map((text, at) =>
              calls(
                call(
                  numbered ? index : null,
                  at === 0 || !numbered ? id : null,
                  at === 0 ? name : null,
                  text,
                ),
              ),
            ),
          ),
        ];
        const deltas: Json[] = [];
        for (let at = 0; queues.some(({ length }) => length > 0); at++) {
          const left = queues.filter(({ length }) => length > 0);
          const queue = left[(picks[at % picks.length] ?? 0) % left.length];
          deltas.push(queue?.shift() ?? {});
        }
        const complete = whole(path, {
          role: 'assistant',
          reasoning_content: made.reasoning,
          content: made.text,
          tool_calls: list.map(({ id, name, args }) => call(null, id, name, args)),
        });
        expect(complete.calls.map(({ args }) => callArguments(JSON.stringify(args)))).not.toContain(
          undefined,
        );
        expect(streamed(path, deltas)).toEqual(complete);
      },
    ),
    { numRuns: 200 },
  );
});

test.each(PATHS)('%s over a port: interleaved calls end with a complete message', async (path) => {
  const { gateway } = await setUp((req, res) => {
    req.resume();
    res.writeHead(200, SSE);
    const [, deltas] = ROWS[0] ?? [];
    for (const delta of deltas ?? []) res.write(chunk({ choices: [{ index: 0, delta }] }));
    res.end(`${chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })}data: [DONE]\n\n`);
  });
  const { body } = await post(gateway.origin, path, { ...BODIES[path], stream: true });
  expect(READERS[path](eventsOf(body)).calls).toEqual(made(['a', 'f', { x: 1 }], ['b', 'g', { y: 2 }]));
});
