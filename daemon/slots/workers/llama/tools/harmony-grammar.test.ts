import { expect, test } from 'vitest';
import { grammarJudge } from '../../testing/grammar-judge.ts';
import { harmonyGrammar } from './harmony-grammar.ts';

const matcherFor = grammarJudge();

const parameters = { type: 'object', properties: { x: { type: 'integer' } }, required: ['x'] };
const tools = [{ type: 'function' as const, function: { name: 'f', parameters } }];
const THOUGHTS = '<|channel|>analysis<|message|>If a < b <<c, ü "quoted"\n<|end|><|start|>assistant';
const CALL = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"x":5}';

test('a call with or without reasoning', async () => {
  const matches = await matcherFor(harmonyGrammar(tools));
  expect([matches(CALL), matches(THOUGHTS + CALL)]).toEqual([true, true]);
  for (const not of [
    '',
    THOUGHTS,
    CALL.replace('5', '"y"'),
    CALL.replace('.f', '.g'),
    `${CALL}\n`,
    '{"x":5}',
  ])
    expect(matches(not), not).toBe(false);
});

test('a structured final message, or a call', async () => {
  const matches = await matcherFor(harmonyGrammar(tools, { schema: { type: 'integer' }, strict: true }));
  const final = '<|channel|>final<|message|>';
  expect([
    matches(`${final}7`),
    matches(`${THOUGHTS}${final}7`),
    matches(CALL),
    matches(`${final}x`),
    matches('7'),
  ]).toEqual([...[true, true, true, false, false]]);
});
