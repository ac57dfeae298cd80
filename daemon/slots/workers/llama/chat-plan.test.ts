import { expect, test } from 'vitest';
import { chatPlan } from './chat-plan.ts';
import { chatRequest } from './chat-request.ts';
import { toolFamily } from './tools/family.ts';

const tools = [{ type: 'function', function: { name: 'f' } }];
const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
const format = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
const plan = (body: object, prompt = 'assistant\n', template = '<tool_call>') =>
  chatPlan(chatRequest({ messages: [{ role: 'user', content: 'hi' }], ...body }), toolFamily(template), {
    head: prompt,
    text: prompt,
  });

test('free text has no grammar and no calls', () => {
  expect(plan({})).toMatchObject({
    grammar: null,
    gate: null,
    readOptions: { calls: null, thoughts: { opened: null } },
  });
});

test('reads offered tools in the form of the family', () => {
  const { readOptions, grammar, marks } = plan({ tools });
  expect(grammar).toBeNull();
  expect(readOptions.calls).toMatchObject({ family: { id: 'hermes' }, parallel: true });
  expect(marks).toContain('<tool_call>');
  expect(plan({}).marks).not.toContain('<tool_call>');
});

test('writes a required call as plain JSON under a grammar, with the ids and keys of the family', () => {
  const { readOptions, grammar } = plan({ tools, tool_choice: 'required' }, 'x', '[TOOL_CALLS]');
  expect(readOptions.calls?.family).toMatchObject({ id: 'json', id9: true });
  expect(grammar).toMatchObject({ param: 'tool_choice', text: expect.stringContaining('\\"f\\"') });
  expect(plan({ tools, tool_choice: 'required' }, 'x', '<|python_tag|>').grammar?.text).toContain(
    'parameters',
  );
});

test('allows both a call and a structured answer', () => {
  const { readOptions, grammar } = plan({ tools, ...format });
  expect(readOptions.calls?.family.id).toBe('json');
  expect(grammar?.text).toContain('\\"a\\"');
  expect(grammar?.text).toContain('\\"f\\"');
});

test('names the keywords that the grammar does not enforce, of the tools and of the answer', () => {
  const odd = { type: 'object', properties: { a: { type: 'integer', multipleOf: 2 } }, required: ['a'] };
  const oddTools = [{ type: 'function', function: { name: 'f', parameters: odd } }];
  const oddFormat = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: odd } } };
  for (const template of ['<tool_call>', OSS]) {
    const relaxed = (body: object) => plan(body, 'assistant', template).relaxed;
    expect(relaxed({ tools: oddTools })).toEqual([]);
    expect(relaxed({ tools: oddTools, tool_choice: 'required' })).toEqual(['tools.multipleOf']);
    expect(relaxed(oddFormat)).toEqual(['response_format.multipleOf']);
    expect(relaxed({ tools: oddTools, ...oddFormat })).toEqual([
      'response_format.multipleOf',
      'tools.multipleOf',
    ]);
  }
});

test('refuses a strict tool, also when the model decides', () => {
  const parameters = { type: 'object', properties: { a: { not: { type: 'null' } } } };
  const strict = [{ type: 'function', function: { name: 'f', strict: true, parameters } }];
  expect(() => plan({ tools: strict })).toThrow('tools.0.function.parameters');
  expect(() => plan({ tools: strict, tool_choice: 'required' })).toThrow('"not"');
});

test('applies the grammar after the reasoning when the prompt opened it', () => {
  expect(plan(format, 'assistant\n<think>\n').gate).toBe('</think>');
  expect(plan(format).gate).toBeNull();
  expect(plan({ reasoning_format: 'none' }, '<think>').readOptions.thoughts).toBeNull();
});

const OSS = '<|channel|>';
const START = '<|start|>user<|message|>hi<|end|><|start|>assistant';

test('gpt-oss keeps its format: the grammar includes the headers and allows reasoning first', () => {
  const free = plan({}, START, OSS);
  expect(free).toMatchObject({ grammar: null, gate: null });
  expect(free.readOptions.thoughts).toBeNull();
  expect(free.marks).toContain('<|message|>');
  const forced = plan({ tools, tool_choice: 'required' }, START, OSS);
  expect(forced.readOptions.calls?.family.id).toBe('harmony');
  expect(forced.grammar?.text).toContain('to=functions.f');
  expect(plan(format, START, OSS).grammar?.text).toContain('<|channel|>final<|message|>');
  expect(plan({ grammar: 'root ::= "x"' }, START, OSS).grammar?.text).toBe('root ::= "x"');
});

test('a message that the prompt started follows only the structure, or is a plain call', () => {
  const openedPrompt = `${START}<|channel|>final<|message|>`;
  expect(plan(format, openedPrompt, OSS).grammar?.text).not.toContain('<|channel|>');
  expect(plan({ tools, tool_choice: 'required' }, openedPrompt, OSS).readOptions.calls?.family.id).toBe(
    'json',
  );
});
