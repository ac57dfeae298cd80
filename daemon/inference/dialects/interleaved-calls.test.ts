import { expect, test } from 'vitest';
import { post } from '../testing/client.ts';
import { blocksOf, type Content, outputOf, READERS } from '../testing/dialect-readers.ts';
import { BODIES, chunk, eventsOf, MESSAGES, PATHS, type Path, RESPONSES } from '../testing/dialects.ts';
import { closeAfterEach, SSE, setUp } from '../testing/forwarding.ts';
import { asList, type Json } from './json.ts';
import { messages } from './messages/messages.ts';
import { responses } from './responses/responses.ts';

closeAfterEach();

const DIALECTS = { [RESPONSES]: responses, [MESSAGES]: messages } as const;
const BY = { model: 'm', upstream: null };
const translationOf = (path: Path) =>
  DIALECTS[path](Buffer.from(JSON.stringify({ ...BODIES[path], stream: true })), null);

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
    'a fragment that repeats a complete call',
    [
      calls(call(0, 'a', 'f', '{}')),
      calls(call(1, 'b', 'g', '{"y":2}')),
      calls(call(0, 'a', 'f', '{}')),
      calls(call(1, 'b', null, '{"y":2}')),
    ],
    made(['a', 'f', {}], ['b', 'g', { y: 2 }]),
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

/** Arguments in the fragments of one call, and their value. */
const FORMS: [what: string, fragments: string[], args: object][] = [
  ['that repeat all before', ['{', '{"x"', '{"x":', '{"x":1', '{"x":1}'], { x: 1 }],
  ['that repeat all before, inside a text', ['{"x":"a', '{"x":"a b', '{"x":"a b"}'], { x: 'a b' }],
  ['that repeat all before, in a list', ['{"x', '{"x":[1', '{"x":[1,{"y":2}]}'], { x: [1, { y: 2 }] }],
  ['in parts, and then whole', ['{"x":', '1', '}', '{"x":1}'], { x: 1 }],
  ['in parts, and whole before its end', ['{"x":', '1', '{"x":1}'], { x: 1 }],
  ['that only look repeated', ['{"x":', '{"x":', '1}', '}'], { x: { x: 1 } }],
  ['that only look repeated, in a text', ['{"x":"{', String.raw`{\"x`, '"}'], { x: '{{"x' }],
  ['encoded twice', [JSON.stringify('{"x":1}')], { x: 1 }],
  ['encoded twice, in parts', [...JSON.stringify(JSON.stringify({ x: 'a "b" \\' }))], { x: 'a "b" \\' }],
  ['encoded twice, after white space', [' ', '"{', String.raw`\"x\":`, '1}"'], { x: 1 }],
  ['encoded twice, empty', ['""'], {}],
  ['encoded twice, null', ['"null"'], {}],
  ['with a closing tag', ['{"x":1}', '</tool_call>'], { x: 1 }],
  ['with a closing tag in the same fragment', ['{"x":', '1}\n</function>'], { x: 1 }],
  ['with a fence', ['{"x":1}\n```'], { x: 1 }],
  ['with one brace too many', ['{"x":1}', '}'], { x: 1 }],
  ['after an empty object', ['{}', '{"x":', '1}'], { x: 1 }],
  ['after an empty object in the same fragment', ['{}{"x":1}'], { x: 1 }],
  ['after null', ['null', '{"x":1}'], { x: 1 }],
  ['null in parts', ['nu', 'll'], {}],
  ['an empty object in parts', ['{', ' ', '}'], {}],
];

test.each(PATHS.flatMap((path) => FORMS.map((row) => [path, ...row] as const)))(
  '%s: arguments %s',
  (path, _, fragments, args) => {
    const [first = '', ...rest] = fragments;
    const deltas = [call(0, 'a', 'f', first), ...rest.map((text) => call(0, null, null, text))];
    const other = call(1, 'b', 'g', '{"y":2}');
    const expected = made(['a', 'f', args], ['b', 'g', { y: 2 }]);
    expect(
      streamed(
        path,
        [...deltas, other].map((each) => calls(each)),
      ).calls,
    ).toEqual(expected);
    expect(
      streamed(
        path,
        [other, ...deltas].map((each) => calls(each)),
      ).calls,
    ).toEqual(expected);
    if (fragments.length > 1) return;
    const message = { role: 'assistant', content: null, tool_calls: [call(null, 'a', 'f', first)] };
    expect(whole(path, message).calls).toEqual(made(['a', 'f', args]));
  },
);

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
