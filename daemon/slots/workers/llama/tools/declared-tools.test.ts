import { expect, test } from 'vitest';
import { chatRequest } from '../chat-request.ts';

const toolsOf = (extra: object) => {
  const { tools, callStyle } = chatRequest({ messages: [{ role: 'user', content: 'hi' }], ...extra });
  return { tools, legacy: callStyle.legacy, custom: [...callStyle.custom] };
};
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const weather = { name: 'weather', description: 'Weather.', parameters };
const weatherTool = { type: 'function', function: weather };
const input = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
};

test.each<[string, object, object]>([
  ['functions', { functions: [weather] }, { forced: null }],
  ['function_call: auto', { functions: [weather], function_call: 'auto' }, { forced: null }],
  ['a named function', { functions: [weather], function_call: { name: 'weather' } }, { forced: ['weather'] }],
  ['an empty list of tools beside them', { functions: [weather], tools: [] }, { forced: null }],
  ['null beside them', { functions: [weather], tools: null, function_call: null }, { forced: null }],
])("OpenAI's older API: %s", (_, extra, expected) => {
  expect(toolsOf(extra)).toEqual({
    tools: { offered: [weatherTool], parallel: false, ...expected },
    legacy: true,
    custom: [],
  });
});

test.each<[string, object]>([
  ['function_call: none', { functions: [weather], function_call: 'none' }],
  ['no functions', { functions: [], function_call: 'auto' }],
  ['null', { functions: null, function_call: null }],
])('no tool is offered: %s', (_, extra) => expect(toolsOf(extra).tools).toBeNull());

const sql = { type: 'custom', custom: { name: 'sql', description: 'Runs SQL.' } };
const sqlTool = {
  type: 'function',
  function: { name: 'sql', description: 'Runs SQL.', parameters: input },
};

test.each<[string, object, object]>([
  ['alone', { tools: [sql] }, { offered: [sqlTool], forced: null }],
  ['beside a function', { tools: [weatherTool, sql] }, { offered: [weatherTool, sqlTool], forced: null }],
  ['required', { tools: [sql], tool_choice: 'required' }, { offered: [sqlTool], forced: ['sql'] }],
  [
    'named',
    { tools: [weatherTool, sql], tool_choice: { type: 'custom', custom: { name: 'sql' } } },
    { offered: [weatherTool, sqlTool], forced: ['sql'] },
  ],
  [
    'allowed',
    {
      tools: [weatherTool, sql],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'custom', custom: { name: 'sql' } }] },
      },
    },
    { offered: [sqlTool], forced: ['sql'] },
  ],
])('a custom tool is a function with one text: %s', (_, extra, expected) => {
  expect(toolsOf(extra)).toEqual({ tools: { parallel: true, ...expected }, legacy: false, custom: ['sql'] });
});

test('the grammar of a custom tool is part of its description', () => {
  const format = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } };
  const { tools } = toolsOf({ tools: [{ type: 'custom', custom: { name: 'x', format } }] });
  expect(tools?.offered[0]?.function.description).toBe('The input must fit this grammar:\nstart: "a"');
});

const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } };
test.each<[string, object, string[]]>([
  [
    'a grammar',
    { tools: [weatherTool, { type: 'custom', custom: { name: 'sql', format: grammar } }] },
    ['tools.1.custom.format'],
  ],
  ['free text', { tools: [{ type: 'custom', custom: { name: 'sql', format: { type: 'text' } } }] }, []],
  ['no format', { tools: [sql] }, []],
  ['a function', { tools: [weatherTool] }, []],
  [
    'tools that may not be called',
    { tools: [{ type: 'custom', custom: { name: 'sql', format: grammar } }], tool_choice: 'none' },
    [],
  ],
])('names what is only described to the model: %s', (_, extra, named) => {
  const request = chatRequest({ messages: [{ role: 'user', content: 'hi' }], ...extra });
  expect(request.described).toEqual(named);
});
