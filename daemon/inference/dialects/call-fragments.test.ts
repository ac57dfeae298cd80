import { describe, expect, test } from 'vitest';
import { CallFragments } from './call-fragments.ts';
import type { Json } from './json.ts';
import type { Piece } from './piece.ts';

interface Entry {
  readonly index?: number | string;
  readonly id?: string;
  readonly name?: string;
  readonly args?: unknown;
  readonly extra?: Json;
}
const delta = (...entries: readonly Entry[]): Json => ({
  tool_calls: entries.map(({ index, id, name, args, extra }) => ({
    ...{ index, id, function: { name, arguments: args } },
    ...(extra && { extra_content: extra }),
  })),
});

/** Returns the calls as `name(arguments)`, in the order of their starts. */
function textsOf(pieces: readonly Piece[]): string[] {
  const calls = new Map<number, { name: string; text: string }>();
  for (const piece of pieces) {
    if (piece.type === 'call') calls.set(piece.index, { name: piece.name, text: '' });
    if (piece.type === 'arguments') (calls.get(piece.index) as { text: string }).text += piece.text;
  }
  return [...calls.values()].map(({ name, text }) => `${name}(${text})`);
}

/** Returns the calls of these chunks, each with its entries. */
function callsIn(...chunks: readonly (readonly Entry[])[]): string[] {
  const fragments = new CallFragments();
  return textsOf([...chunks.flatMap((entries) => fragments.read(delta(...entries))), ...fragments.end()]);
}

describe('entries with numbers', () => {
  test.each<[string, Entry[][], string[]]>([
    [
      'interleaved calls',
      [
        [{ index: 0, id: 'a', name: 'f', args: '{"x":' }],
        [{ index: 1, id: 'b', name: 'g', args: '{"y":' }],
        [
          { index: 0, args: '1}' },
          { index: 1, args: '2}' },
        ],
      ],
      ['f({"x":1})', 'g({"y":2})'],
    ],
    [
      'a name after the arguments',
      [[{ index: 0, args: '{"x":1}' }], [{ index: 0, name: 'f' }]],
      ['f({"x":1})'],
    ],
    [
      'a name in every chunk',
      [[{ index: 0, name: 'f', args: '{"x":' }], [{ index: 0, name: 'f', args: '1}' }]],
      ['f({"x":1})'],
    ],
    [
      'another id under the same number is another call',
      [[{ index: 0, id: 'a', name: 'f', args: '{}' }], [{ index: 0, id: 'b', name: 'g', args: '{"y":2}' }]],
      ['f({})', 'g({"y":2})'],
    ],
    [
      'two names under the same number in one chunk are two calls',
      [
        [
          { index: 0, name: 'f', args: '{"x":1}' },
          { index: 0, name: 'g', args: '{"y":2}' },
        ],
      ],
      ['f({"x":1})', 'g({"y":2})'],
    ],
    [
      'a name after complete arguments is another call',
      [[{ index: 0, name: 'f', args: '{"x":1}' }], [{ index: 0, name: 'g', args: '{"y":2}' }]],
      ['f({"x":1})', 'g({"y":2})'],
    ],
    [
      'a name with blank arguments after complete ones is the same call',
      [[{ index: 0, name: 'f', args: '{"x":1}' }], [{ index: 0, name: 'f', args: ' ' }]],
      ['f({"x":1} )'],
    ],
    ['a number as text', [[{ index: '3', name: 'f', args: '{' }], [{ index: '3', args: '}' }]], ['f({})']],
  ])('%s', (_, chunks, expected) => {
    expect(callsIn(...chunks).map((each) => each.replace(' )', ')'))).toEqual(
      expected.map((each) => each.replace(' )', ')')),
    );
  });
});

describe('entries without numbers', () => {
  test.each<[string, Entry[][], string[]]>([
    [
      'the rest has no name and no id',
      [[{ id: 'a', name: 'f', args: '{"x":' }], [{ args: '1}' }]],
      ['f({"x":1})'],
    ],
    [
      'the rest has the same id',
      [
        [{ id: 'a', name: 'f', args: '{"x":' }],
        [{ id: 'b', name: 'g', args: '{}' }],
        [{ id: 'a', args: '1}' }],
      ],
      ['f({"x":1})', 'g({})'],
    ],
    [
      'the rest has another id each time',
      [[{ id: 'a', name: 'f', args: '{"x":' }], [{ id: 'b', args: '1}' }]],
      ['f({"x":1})'],
    ],
    ['the rest is in the same chunk', [[{ name: 'f', args: '{"x":' }, { args: '1}' }]], ['f({"x":1})']],
    [
      'the same id twice in a chunk is two calls',
      [
        [
          { id: 'a', name: 'f', args: '{}' },
          { id: 'a', name: 'g', args: '{}' },
        ],
      ],
      ['f({})', 'g({})'],
    ],
    [
      'a name in the same chunk is another call',
      [
        [
          { name: 'f', args: '{}' },
          { name: 'f', args: '{}' },
        ],
      ],
      ['f({})', 'f({})'],
    ],
    [
      'a repeated name continues unfinished arguments',
      [[{ name: 'f', args: '{"x":' }], [{ name: 'f', args: '1}' }]],
      ['f({"x":1})'],
    ],
    [
      'a repeated name after finished arguments is another call',
      [[{ name: 'f', args: '{"x":1}' }], [{ name: 'f', args: '{"x":2}' }]],
      ['f({"x":1})', 'f({"x":2})'],
    ],
    ['a late name without an id', [[{ id: 'a', args: '{"x":1}' }], [{ name: 'f' }]], ['f({"x":1})']],
    ['a late name with the first id', [[{ args: '{"x":1}' }], [{ id: 'a', name: 'f' }]], ['f({"x":1})']],
    [
      'a late name with another id is another call',
      [[{ id: 'a', args: '{"x":1}' }], [{ id: 'b', name: 'g', args: '{}' }]],
      ['g({})', '({"x":1})'],
    ],
    ['a name that never comes', [[{ id: 'a', args: '{"x":1}' }]], ['({"x":1})']],
    ['an entry with nothing', [[{}], [{ args: '' }]], []],
    ['arguments as an object', [[{ name: 'f', args: { x: 1 } }]], ['f({"x":1})']],
  ])('%s', (_, chunks, expected) => {
    expect(callsIn(...chunks)).toEqual(expected);
  });
});

test('the old field has one call', () => {
  const fragments = new CallFragments();
  const pieces = [
    ...fragments.read({ function_call: { name: 'f', arguments: '{"x":' } }),
    ...fragments.read({ function_call: { arguments: '1}' } }),
  ];
  expect(textsOf([...pieces, ...fragments.end()])).toEqual(['f({"x":1})']);
  expect(fragments.order()).toEqual([0]);
});

test('entries that are no calls are left out', () => {
  const calls = [null, 'x', { function: null }, { id: 'a' }];
  expect(new CallFragments().read({ tool_calls: calls })).toEqual([]);
});

test.each<[string, Entry[], number[]]>([
  [
    'by number',
    [
      { index: 2, name: 'c' },
      { index: 0, name: 'a' },
      { index: 1, name: 'b' },
    ],
    [1, 2, 0],
  ],
  [
    'of equal numbers by start',
    [
      { index: 0, name: 'a' },
      { index: 0, name: 'b' },
    ],
    [0, 1],
  ],
  ['by start when one has no number', [{ index: 5, name: 'c' }, { name: 'a' }], [0, 1]],
  [
    'without a call that has no name',
    [
      { index: 1, args: '{}' },
      { index: 0, name: 'a' },
    ],
    [0],
  ],
])('the calls are ordered %s', (_, entries, expected) => {
  const fragments = new CallFragments();
  fragments.read(delta(...entries));
  expect(fragments.order()).toEqual(expected);
});

test('fields that no piece carries are stored, also those that come late', () => {
  const stored: [string, Json][] = [];
  const fragments = new CallFragments((id, extra) => stored.push([id, extra]));
  fragments.read(delta({ index: 0, id: 'a', args: '{' }));
  const [start] = fragments.read(delta({ index: 0, name: 'f', extra: { early: 1 } }));
  fragments.read(delta({ index: 0, args: '}', extra: { late: 1 } }));
  expect(start).toMatchObject({ type: 'call', id: 'a', extra: { early: 1 } });
  expect(stored).toEqual([
    ['a', { early: 1 }],
    ['a', { late: 1 }],
  ]);
  const unstored = new CallFragments();
  unstored.read(delta({ index: 0, name: 'f' }));
  expect(unstored.read(delta({ index: 0, extra: { late: 1 } }))).toEqual([]);
});

test('a message whose calls are complete leaves nothing to the end', () => {
  const fragments = new CallFragments();
  const pieces = fragments.read(
    delta({ id: 'a', name: 'f', args: '"{}"' }, { id: 'b', args: '{"x":1}' }),
    true,
  );
  expect(textsOf(pieces)).toEqual(['f({})', '({"x":1})']);
  expect(fragments.end()).toEqual([]);
});

test('the number of calls is bounded', () => {
  const fragments = new CallFragments();
  const calls = Array.from({ length: 1_024 }, (_, index) => ({ index, name: 'f' }));
  expect(fragments.read(delta(...calls))).toHaveLength(1_024);
  expect(() => fragments.read(delta({ index: 1_024, name: 'f' }))).toThrow('too many tool calls');
});

test('the length of all arguments is bounded', () => {
  const fragments = new CallFragments();
  const half = ' '.repeat(16 * 1024 * 1024);
  fragments.read(delta({ index: 0, name: 'f', args: half }, { index: 1, name: 'g', args: half }));
  expect(() => fragments.read(delta({ index: 0, args: 'x' }))).toThrow('The answer is too long.');
});
