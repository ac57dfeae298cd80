import { expect, test } from 'vitest';
import { grammarJudge } from '../../testing/grammar-judge.ts';
import type { Tool } from './tool-choice.ts';
import { checkStrictTools, toolGrammar } from './tool-grammar.ts';

const judge = grammarJudge();

const tool = (name: string, parameters?: unknown): Tool => ({
  type: 'function',
  function: { name, parameters },
});
const TREE = {
  properties: { root: { $ref: '#/$defs/Node' } },
  required: ['root'],
  $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
};
const TOOLS = [
  tool('tree', TREE),
  tool('any'),
  tool('mail', {
    type: 'object',
    properties: { to: { type: 'string', format: 'email', pattern: '@' } },
    required: ['to'],
  }),
  tool('broken', { type: 'object', properties: { x: { $ref: '#/nowhere' }, y: { $ref: '#' } } }),
];

async function matcherFor(grammar: string): Promise<(value: unknown) => boolean> {
  const matches = await judge(grammar);
  return (value) => matches(JSON.stringify(value));
}

test('matches one call of one tool with arguments that fit its schema, as far as a grammar can enforce it', async () => {
  const matches = await matcherFor(toolGrammar(TOOLS, { argumentsKey: 'arguments', several: false }));
  const fits = [
    { name: 'tree', arguments: { root: { next: { next: {} } } } },
    { name: 'any', arguments: { whatever: [1] } },
    { name: 'mail', arguments: { to: 'ann@home' } },
    { name: 'broken', arguments: { x: 1 } },
  ];
  for (const call of fits) expect(matches(call), JSON.stringify(call)).toBe(true);
  const not = [
    { name: 'other', arguments: {} },
    { name: 'tree', arguments: {} },
    { name: 'mail', arguments: { to: 5 } },
    { name: 'mail', arguments: { to: 'no address' } },
    { name: 'any' },
    { name: 'any', parameters: {} },
    'any',
  ];
  for (const call of not) expect(matches(call), JSON.stringify(call)).toBe(false);
});

test('matches either a call or the structure', async () => {
  const matches = await matcherFor(
    toolGrammar(
      [tool('f')],
      { argumentsKey: 'parameters', several: false },
      { schema: { type: 'integer' }, strict: true },
    ),
  );
  expect([matches(5), matches({ name: 'f', parameters: {} }), matches('x')]).toEqual([true, true, false]);
});

test('matches one call or a list when several are allowed', async () => {
  const matches = await matcherFor(
    toolGrammar([tool('f'), tool('g')], { argumentsKey: 'arguments', several: true }),
  );
  const call = (name: string) => ({ name, arguments: {} });
  for (const fits of [call('f'), [call('g')], [call('f'), call('g'), call('f')]])
    expect(matches(fits), JSON.stringify(fits)).toBe(true);
  for (const not of [[], [call('h')], [call('f'), 5]]) expect(matches(not), JSON.stringify(not)).toBe(false);
});

const FORM = { argumentsKey: 'arguments', several: false };

test.each<[unknown, string[]]>([
  [{ type: 'object', properties: { a: { type: 'integer', multipleOf: 2 } } }, ['multipleOf']],
  [{ type: 'object', properties: { a: { type: 'string', format: 'lower' } } }, ['format:lower']],
  [{ type: 'object', properties: { a: { not: { type: 'null' } } } }, ['not']],
  [{ type: 'object', properties: { a: { $ref: '#/nowhere' } } }, ['schema']],
  [{ type: 'object', properties: { a: { enum: [] } }, required: ['a'] }, ['schema']],
  [{ type: 'object', properties: { a: { type: 'string' } } }, []],
  [undefined, []],
])('names what it does not enforce of %j', (parameters, relaxed) => {
  const names: string[] = [];
  toolGrammar([tool('f', parameters)], FORM, null, (name) => names.push(name));
  expect(names).toEqual(relaxed);
});

test('accepts any arguments of the tools that exceed the size of a grammar', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`p${i}`, { type: 'string', maxLength: i }]),
  );
  const tools = Array.from({ length: 100 }, (_, i) => tool(`t${i}`, { type: 'object', properties }));
  const names = new Set<string>();
  const grammar = toolGrammar(tools, FORM, { schema: { type: 'integer' }, strict: true }, (name) =>
    names.add(name),
  );
  expect([...names]).toEqual(['schema']);
  const matches = await matcherFor(grammar);
  const call = (name: string, args: object) => matches({ name, arguments: args });
  expect([call('t0', { p1: 'a' }), call('t0', { p1: 'ab' }), call('t99', { p1: 'ab' }), matches(5)]).toEqual([
    true,
    false,
    true,
    true,
  ]);
});

test('refuses a strict tool with a keyword that changes the meaning, by its position', () => {
  const parameters = { type: 'object', properties: { a: { type: 'string', not: { const: 'x' } } } };
  const strict = { type: 'function', function: { name: 'g', strict: true, parameters } } as const;
  expect(() => checkStrictTools([tool('f', parameters), strict])).toThrow(
    'tools.1.function.parameters: the JSON schema is not supported: properties.a: "not"',
  );
  const relaxed = {
    ...strict,
    function: { ...strict.function, parameters: { type: 'object', uniqueItems: true } },
  };
  expect(() => checkStrictTools([tool('f', parameters), relaxed])).not.toThrow();
});
