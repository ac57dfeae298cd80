import { expect, test } from 'vitest';
import { readTools } from './tool-choice.ts';

const tool = (name: string) => ({ type: 'function' as const, function: { name } });
const tools = [tool('f'), tool('g')];
const allowed = (mode: string, ...names: string[]) => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map(tool) },
});

test.each([
  [{}, null],
  [{ tools: [] }, null],
  [{ tool_choice: 'none', tools }, null],
  [{ tools }, { offered: tools, forced: null, parallel: true }],
  [
    { tools, tool_choice: 'auto', parallel_tool_calls: false },
    { offered: tools, forced: null, parallel: false },
  ],
  [
    { tools, tool_choice: 'required' },
    { offered: tools, forced: ['f', 'g'], parallel: true },
  ],
  [
    { tools, tool_choice: { type: 'function', function: { name: 'g' } } },
    { offered: tools, forced: ['g'], parallel: true },
  ],
  [
    { tools, tool_choice: allowed('auto', 'g') },
    { offered: [tool('g')], forced: null, parallel: true },
  ],
  [
    { tools, tool_choice: allowed('required', 'f', 'g'), parallel_tool_calls: false },
    { offered: tools, forced: ['f', 'g'], parallel: false },
  ],
])('%j', (body, expected) => {
  expect(readTools(body)).toEqual(expected);
});

test.each([
  [{ tool_choice: 'required' }, 'needs at least one tool'],
  [{ tools, tool_choice: 'sometimes' }, 'must be'],
  [{ tools, tool_choice: { type: 'allowed_tools' } }, 'must be'],
  [{ tools, tool_choice: allowed('sometimes', 'f') }, 'must be'],
  [{ tools, tool_choice: allowed('auto') }, 'must be'],
  [{ tools, tool_choice: allowed('auto', 'f', 'h') }, '"h"'],
  [{ tools, tool_choice: { type: 'function', function: { name: 'h' } } }, '"h"'],
  [{ tool_choice: { type: 'function', function: { name: 'h' } } }, '"h"'],
])('refuses %j', (body, reason) => {
  expect(() => readTools(body)).toThrow(reason);
  expect(() => readTools(body)).toThrow(expect.objectContaining({ status: 422, param: 'tool_choice' }));
});
