import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../../../../lib/testing/cpu-time.ts';
import { expectFound, type Output } from '../../testing/found.ts';
import { bareCalls } from './bare-json.ts';
import { hermesCalls } from './hermes.ts';
import { mistralCalls } from './mistral.ts';
import type { CallScanner } from './pieces.ts';
import type { Accepts } from './scanner.ts';

const names: Accepts = (name) => ['get_weather', 'get_time', 'Füge_hinzu'].includes(name);
const any: Accepts = (name) => name !== '';
const PARIS: [string, string] = ['get_weather', '{"location":"Paris, France"}'];
const TOKYO: [string, string] = ['get_weather', '{"location":"東京","unit":"celsius"}'];

/** Example outputs of these families. */
const FAMILIES: Record<string, { make: () => CallScanner; outputs: Output[] }> = {
  'Hermes and Qwen': {
    make: () => hermesCalls(any),
    outputs: [
      {
        said: '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Paris, France"}}\n</tool_call>',
        calls: [PARIS],
      },
      {
        said:
          'I\'ll look both up.\n<tool_call>\n{"name": "get_weather", "arguments": {"location": "Paris, France"}}\n</tool_call>\n' +
          '<tool_call>\n{"name": "get_weather", "arguments": {"location": "東京", "unit": "celsius"}}\n</tool_call>',
        text: "I'll look both up.\n\n",
        calls: [PARIS, TOKYO],
      },
      {
        said: '<tool_call>\n{"arguments": {"location": "Paris, France"}, "name": "get_weather"}\n</tool_call>',
        calls: [PARIS],
      },
      {
        said: '<tool_call>{"name":"get_time","arguments":"{\\"zone\\": \\"UTC\\"}"}</tool_call>',
        calls: [['get_time', '{"zone": "UTC"}']],
      },
      { said: '<tool_call>{"name": "get_time"}</tool_call>', calls: [['get_time', '{}']] },
      { said: '<tool_call>{"name": "get_time", "arguments": null}</tool_call>', calls: [['get_time', '{}']] },
      {
        said: '<tool_call>{"name": "get_time", "arguments": {"a": "} </tool_call> \\" {", "b": [1, {"c": null}]}}</tool_call> done',
        text: ' done',
        calls: [['get_time', '{"a":"} </tool_call> \\" {","b":[1,{"c":null}]}']],
      },
      {
        said: '<tool_call>{"name": "get_weather", "arguments": {"location": "Par',
        calls: [['get_weather', '{"location":"Par']],
        cut: true,
      },
      { said: '<tool_call>{"name": "get_wea', text: '<tool_call>{"name": "get_wea' },
      { said: '<tool_call>not json</tool_call>', text: '<tool_call>not json</tool_call>' },
      { said: '<tool_call>{"no": "name"}</tool_call>', text: '<tool_call>{"no": "name"}</tool_call>' },
      { said: '<tool_call>{"name": 5}</tool_call> x', text: '<tool_call>{"name": 5}</tool_call> x' },
      { said: 'a < b, <tool', text: 'a < b, <tool' },
      { said: '</tool_call> alone ü', text: '</tool_call> alone ü' },
    ],
  },
  'Llama 3 and plain JSON': {
    make: () => bareCalls(names),
    outputs: [
      { said: '{"name": "get_weather", "parameters": {"location": "Paris, France"}}', calls: [PARIS] },
      {
        said: '<|python_tag|>{"name": "get_weather", "parameters": {"location": "Paris, France"}}',
        calls: [PARIS],
      },
      {
        said: '{"type": "function", "name": "get_weather", "parameters": {"location": "Paris, France"}}',
        calls: [PARIS],
      },
      {
        said: '{"name": "get_weather", "parameters": {"location": "Paris, France"}}; {"name": "get_weather", "parameters": {"location": "東京", "unit": "celsius"}}',
        calls: [PARIS, TOKYO],
      },
      {
        said: '[\n  {"name": "get_weather", "arguments": {"location": "Paris, France"}},\n  {"name": "Füge_hinzu", "arguments": {"n": -1.5e3}}\n]',
        calls: [PARIS, ['Füge_hinzu', '{"n":-1.5e3}']],
      },
      {
        said: '```json\n{"name": "get_weather", "arguments": {"location": "Paris, France"}}\n```',
        calls: [PARIS],
      },
      {
        said: '<|python_tag|>brave_search.call(query="the weather")',
        text: '<|python_tag|>brave_search.call(query="the weather")',
      },
      {
        said: '{"name": "somebody", "parameters": {"age": 5}}',
        text: '{"name": "somebody", "parameters": {"age": 5}}',
      },
      { said: '{"answer": {"name": "get_time"}}', text: '{"answer": {"name": "get_time"}}' },
      { said: '[1, 2]', text: '[1, 2]' },
      { said: '```json\n[true]\n```', text: '```json\n[true]\n```' },
      { said: 'It is {"name": "get_time"} o\'clock.', text: 'It is {"name": "get_time"} o\'clock.' },
      { said: '  {"name": "get_time"', text: '  {"name": "get_time"' },
      { said: '<|python', text: '<|python' },
    ],
  },
  Mistral: {
    make: () => mistralCalls(any),
    outputs: [
      {
        said: '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"location": "Paris, France"}}]',
        calls: [PARIS],
      },
      {
        said: '[TOOL_CALLS][{"name": "get_weather", "arguments": {"location": "Paris, France"}}, {"name": "get_weather", "arguments": {"location": "東京", "unit": "celsius"}}]',
        calls: [PARIS, TOKYO],
      },
      {
        said: 'One moment.[TOOL_CALLS]get_weather[ARGS]{"location": "Paris, France"}[TOOL_CALLS]get_time[CALL_ID]abc123XYZ[ARGS]{}',
        text: 'One moment.',
        calls: [PARIS, ['get_time', '{}']],
      },
      {
        said: '[TOOL_CALLS]get_weather{"location": "Par',
        calls: [['get_weather', '{"location":"Par']],
        cut: true,
      },
      { said: '[TOOL_CALLS] [5]', text: '[TOOL_CALLS][5]' },
      { said: '[TOOL_CALLS]get_wea', text: '[TOOL_CALLS]get_wea' },
      { said: 'See [TOOL_CA', text: 'See [TOOL_CA' },
      { said: 'a list [1] é', text: 'a list [1] é' },
    ],
  },
};

describe.each(Object.entries(FAMILIES))('%s', (_, { make, outputs }) => {
  test.each(outputs)('$said', (output) => expectFound(make, output));
});

test('emits arguments while they arrive, after the name', () => {
  const scanner = hermesCalls(any);
  const emitted = ['<tool_call>{"name": "f", "arguments": {"a"', ': "long', ' text"', '}}</tool_call>'].map(
    (piece) => scanner.push(piece),
  );
  expect(emitted).toEqual([
    [
      { type: 'call', name: 'f' },
      { type: 'arguments', text: '{"a"' },
    ],
    [{ type: 'arguments', text: ':"long' }],
    [{ type: 'arguments', text: ' text"' }],
    [{ type: 'arguments', text: '}' }, { type: 'callEnd' }],
  ]);
});

test('does not retain emitted text, however long the arguments are', () => {
  const scanner = hermesCalls(any);
  scanner.push('<tool_call>{"name": "f", "arguments": {"a": "');
  const cpuMs = cpuTimer();
  let emitted = 0;
  for (let i = 0; i < 100_000; i++) emitted += scanner.push('word ').length;
  expect(emitted).toBe(100_000);
  expect(cpuMs()).toBeLessThan(2_000);
});
