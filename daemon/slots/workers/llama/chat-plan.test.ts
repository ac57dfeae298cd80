import { expect, test } from 'vitest';
import { chatPlan } from './chat-plan.ts';
import { chatRequest } from './chat-request.ts';
import { toolFamily } from './tools/family.ts';

const tools = [{ type: 'function', function: { name: 'f' } }];
const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
const format = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
const plan = (body: object, prompt = 'assistant\n', template = '<tool_call>') =>
  chatPlan(
    chatRequest({ messages: [{ role: 'user', content: 'hi' }], ...body }),
    toolFamily(template),
    prompt,
  );

test('free text has no grammar and no calls', () => {
  expect(plan({})).toMatchObject({
    grammar: null,
    gate: null,
    readOptions: { calls: null, thoughts: { opened: null } },
  });
});

test('offered tools are read in the form of the family', () => {
  const { readOptions, grammar, marks } = plan({ tools });
  expect(grammar).toBeNull();
  expect(readOptions.calls).toMatchObject({ family: { id: 'hermes' }, parallel: true });
  expect(marks).toContain('<tool_call>');
  expect(plan({}).marks).not.toContain('<tool_call>');
});

test('a call that must be made is plain JSON under a grammar, with the ids and keys of the family', () => {
  const { readOptions, grammar } = plan({ tools, tool_choice: 'required' }, 'x', '[TOOL_CALLS]');
  expect(readOptions.calls?.family).toMatchObject({ id: 'json', id9: true });
  expect(grammar).toMatchObject({ param: 'tool_choice', text: expect.stringContaining('\\"f\\"') });
  expect(plan({ tools, tool_choice: 'required' }, 'x', '<|python_tag|>').grammar?.text).toContain(
    'parameters',
  );
});

test('a structure beside tools leaves both open', () => {
  const { readOptions, grammar } = plan({ tools, ...format });
  expect(readOptions.calls?.family.id).toBe('json');
  expect(grammar?.text).toContain('\\"a\\"');
  expect(grammar?.text).toContain('\\"f\\"');
});

test('where the prompt has opened the thoughts, the grammar holds after them', () => {
  expect(plan(format, 'assistant\n<think>\n').gate).toBe('</think>');
  expect(plan(format).gate).toBeNull();
  expect(plan({ reasoning_format: 'none' }, '<think>').readOptions.thoughts).toBeNull();
});

const OSS = '<|channel|>';
const START = '<|start|>user<|message|>hi<|end|><|start|>assistant';

test('gpt-oss keeps its own form: the grammar knows its headers and lets it think first', () => {
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

test('a message that its prompt has begun is held to the structure alone, or to a plain call', () => {
  const begun = `${START}<|channel|>final<|message|>`;
  expect(plan(format, begun, OSS).grammar?.text).not.toContain('<|channel|>');
  expect(plan({ tools, tool_choice: 'required' }, begun, OSS).readOptions.calls?.family.id).toBe('json');
});
