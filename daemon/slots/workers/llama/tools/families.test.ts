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
        raw: '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Paris, France"}}\n</tool_call>',
        calls: [PARIS],
      },
      {
        raw:
          'I\'ll look both up.\n<tool_call>\n{"name": "get_weather", "arguments": {"location": "Paris, France"}}\n</tool_call>\n' +
          '<tool_call>\n{"name": "get_weather", "arguments": {"location": "東京", "unit": "celsius"}}\n</tool_call>',
        text: "I'll look both up.\n\n",
        calls: [PARIS, TOKYO],
      },
      {
        raw: '<tool_call>\n{"arguments": {"location": "Paris, France"}, "name": "get_weather"}\n</tool_call>',
        calls: [PARIS],
      },
      {
        raw: '<tool_call>{"name":"get_time","arguments":"{\\"zone\\": \\"UTC\\"}"}</tool_call>',
        calls: [['get_time', '{"zone": "UTC"}']],
      },
      { raw: '<tool_call>{"name": "get_time"}</tool_call>', calls: [['get_time', '{}']] },
      { raw: '<tool_call>{"name": "get_time", "arguments": null}</tool_call>', calls: [['get_time', '{}']] },
      {
        raw: '<tool_call>{"name": "get_time", "arguments": {"a": "} </tool_call> \\" {", "b": [1, {"c": null}]}}</tool_call> done',
        text: ' done',
        calls: [['get_time', '{"a":"} </tool_call> \\" {","b":[1,{"c":null}]}']],
      },
      {
        raw: '<tool_call>{"name": "get_weather", "arguments": {"location": "Par',
        calls: [['get_weather', '{"location":"Par']],
        cut: true,
      },
      { raw: '<tool_call>{"name": "get_wea', text: '<tool_call>{"name": "get_wea' },
      { raw: '<tool_call>not json</tool_call>', text: '<tool_call>not json</tool_call>' },
      { raw: '<tool_call>{"no": "name"}</tool_call>', text: '<tool_call>{"no": "name"}</tool_call>' },
      { raw: '<tool_call>{"name": 5}</tool_call> x', text: '<tool_call>{"name": 5}</tool_call> x' },
      { raw: 'a < b, <tool', text: 'a < b, <tool' },
      { raw: '</tool_call> alone ü', text: '</tool_call> alone ü' },
    ],
  },
  'Llama 3 and plain JSON': {
    make: () => bareCalls(names),
    outputs: [
      { raw: '{"name": "get_weather", "parameters": {"location": "Paris, France"}}', calls: [PARIS] },
      {
        raw: '<|python_tag|>{"name": "get_weather", "parameters": {"location": "Paris, France"}}',
        calls: [PARIS],
      },
      {
        raw: '{"type": "function", "name": "get_weather", "parameters": {"location": "Paris, France"}}',
        calls: [PARIS],
      },
      {
        raw: '{"name": "get_weather", "parameters": {"location": "Paris, France"}}; {"name": "get_weather", "parameters": {"location": "東京", "unit": "celsius"}}',
        calls: [PARIS, TOKYO],
      },
      {
        raw: '[\n  {"name": "get_weather", "arguments": {"location": "Paris, France"}},\n  {"name": "Füge_hinzu", "arguments": {"n": -1.5e3}}\n]',
        calls: [PARIS, ['Füge_hinzu', '{"n":-1.5e3}']],
      },
      {
        raw: '```json\n{"name": "get_weather", "arguments": {"location": "Paris, France"}}\n```',
        calls: [PARIS],
      },
      {
        raw: '<|python_tag|>brave_search.call(query="the weather")',
        text: '<|python_tag|>brave_search.call(query="the weather")',
      },
      {
        raw: '{"name": "person", "parameters": {"age": 5}}',
        text: '{"name": "person", "parameters": {"age": 5}}',
      },
      { raw: '{"answer": {"name": "get_time"}}', text: '{"answer": {"name": "get_time"}}' },
      { raw: '[1, 2]', text: '[1, 2]' },
      { raw: '```json\n[true]\n```', text: '```json\n[true]\n```' },
      { raw: 'It is {"name": "get_time"} o\'clock.', text: 'It is {"name": "get_time"} o\'clock.' },
      { raw: '  {"name": "get_time"', text: '  {"name": "get_time"' },
      { raw: '<|python', text: '<|python' },
    ],
  },
  Mistral: {
    make: () => mistralCalls(any),
    outputs: [
      {
        raw: '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"location": "Paris, France"}}]',
        calls: [PARIS],
      },
      {
        raw: '[TOOL_CALLS][{"name": "get_weather", "arguments": {"location": "Paris, France"}}, {"name": "get_weather", "arguments": {"location": "東京", "unit": "celsius"}}]',
        calls: [PARIS, TOKYO],
      },
      {
        raw: 'One moment.[TOOL_CALLS]get_weather[ARGS]{"location": "Paris, France"}[TOOL_CALLS]get_time[CALL_ID]abc123XYZ[ARGS]{}',
        text: 'One moment.',
        calls: [PARIS, ['get_time', '{}']],
      },
      {
        raw: '[TOOL_CALLS]get_weather{"location": "Par',
        calls: [['get_weather', '{"location":"Par']],
        cut: true,
      },
      { raw: '[TOOL_CALLS] [5]', text: '[TOOL_CALLS][5]' },
      { raw: '[TOOL_CALLS]get_wea', text: '[TOOL_CALLS]get_wea' },
      { raw: 'See [TOOL_CA', text: 'See [TOOL_CA' },
      { raw: 'a list [1] é', text: 'a list [1] é' },
    ],
  },
  FireFunction: {
    make: () => mistralCalls(names, names, 'functools['),
    outputs: [
      {
        raw: 'functools[{"name": "get_weather", "arguments": {"location": "Paris, France"}}, {"name": "get_time", "arguments": {}}]',
        calls: [PARIS, ['get_time', '{}']],
      },
      {
        raw: 'Wait. functools[{"name": "get_time", "arguments": {}}]',
        text: 'Wait. ',
        calls: [['get_time', '{}']],
      },
      { raw: 'functools[1]', text: 'functools[1]' },
      { raw: 'The module functools has a cache.', text: 'The module functools has a cache.' },
    ],
  },
};

describe.each(Object.entries(FAMILIES))('%s', (_, { make, outputs }) => {
  test.each(outputs)('$raw', (output) => expectFound(make, output));
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
