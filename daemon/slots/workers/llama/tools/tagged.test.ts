import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../../../../lib/testing/cpu-time.ts';
import { expectFound, type Output } from '../../testing/found.ts';
import type { CallScanner } from './pieces.ts';
import { glmCalls, qwenCoderCalls } from './tag-families.ts';

const any = (name: string) => name !== '';
const EDIT = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    text: { type: 'string' },
    line: { type: 'integer' },
    ratio: { type: 'number' },
    force: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    where: { $ref: '#/$defs/Where' },
    mode: { enum: ['a', 'b'] },
    note: { type: ['string', 'null'] },
    free: {},
  },
  $defs: { Where: { type: 'object', properties: { x: { type: 'integer' } } } },
};
const schemas = (name: string) => (name === 'edit' ? EDIT : undefined);
const qwen = (...pairs: [string, string][]) =>
  `<tool_call>\n<function=edit>\n${pairs.map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`).join('')}</function>\n</tool_call>`;
const glm = (...pairs: [string, string][]) =>
  `\n<tool_call>edit\n${pairs.map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>\n`).join('')}</tool_call>`;
const edit = (args: object): [string, string] => ['edit', JSON.stringify(args)];

const ALL: [string, string][] = [
  ['path', '/etc/hosts'],
  ['text', 'one "two"\n\tthree\\ <b>ü</b> 🌸\n'],
  ['line', '20'],
  ['ratio', '3'],
  ['force', 'True'],
  ['tags', '["a","b"]'],
  ['where', '{"x":1}'],
  ['mode', 'a'],
  ['note', 'null'],
  ['free', '[1,"x"]'],
];
const ALL_VALUES = {
  path: '/etc/hosts',
  text: 'one "two"\n\tthree\\ <b>ü</b> 🌸\n',
  line: 20,
  ratio: 3,
  force: true,
  tags: ['a', 'b'],
  where: { x: 1 },
  mode: 'a',
  note: null,
  free: [1, 'x'],
};

/** Example outputs of these families. */
const FAMILIES: Record<string, { make: () => CallScanner; outputs: Output[] }> = {
  'Qwen3-Coder': {
    make: () => qwenCoderCalls(any, schemas),
    outputs: [
      { raw: qwen(...ALL), calls: [edit(ALL_VALUES)] },
      {
        raw: `I'll do both.\n${qwen(['path', 'a'])}\n${qwen(['line', '5'])}`,
        text: "I'll do both.\n\n",
        calls: [edit({ path: 'a' }), edit({ line: 5 })],
      },
      { raw: qwen(['path', '20'], ['free', '20']), calls: [edit({ path: '20', free: 20 })] },
      { raw: qwen(['path', ''], ['text', '\n']), calls: [edit({ path: '', text: '\n' })] },
      { raw: qwen(['line', 'soon'], ['unknown', 'x']), calls: [edit({ line: 'soon', unknown: 'x' })] },
      {
        raw: qwen(['text', '</param> </parameters> <parameter']),
        calls: [edit({ text: '</param> </parameters> <parameter' })],
      },
      { raw: qwen(), calls: [['edit', '{}']] },
      {
        raw: '<tool_call><function=edit><parameter=path>a b</parameter></function></tool_call>',
        calls: [edit({ path: 'a b' })],
      },
      // Models sometimes omit the surrounding tag.
      {
        raw: 'Now.\n<function=edit>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>',
        text: 'Now.\n',
        calls: [edit({ path: 'a' })],
      },
      { raw: '<function=edit>{"path": "a"}</function> ok', text: 'ok', calls: [edit({ path: 'a' })] },
      {
        raw: '<tool_call>\n<function=other>\n<parameter=n>\n5\n</parameter>\n</function>\n</tool_call>',
        calls: [['other', '{"n":5}']],
      },
      {
        raw: '<tool_call>\n<function=edit>\n<parameter=path>\n/etc/ho',
        calls: [['edit', '{"path":"/etc/ho']],
        cut: true,
      },
      { raw: '<tool_call>\n<function=ed', text: '<tool_call>\n<function=ed' },
      { raw: '<tool_call>words</tool_call>', text: '<tool_call>words</tool_call>' },
      { raw: 'a <func', text: 'a <func' },
      { raw: 'f<function=no name>x', text: 'f<function=no name>x' },
    ],
  },
  'GLM 4': {
    make: () => glmCalls(any, schemas),
    outputs: [
      { raw: glm(...ALL), text: '\n', calls: [edit(ALL_VALUES)] },
      {
        raw: `Both.${glm(['path', 'a'])}${glm(['line', '5'])}`,
        text: 'Both.\n\n',
        calls: [edit({ path: 'a' }), edit({ line: 5 })],
      },
      { raw: '<tool_call>edit</tool_call>', calls: [['edit', '{}']] },
      {
        raw: '<tool_call>edit<arg_key>path</arg_key><arg_value> a\n</arg_value></tool_call>.',
        text: '.',
        calls: [edit({ path: ' a\n' })],
      },
      {
        raw: '<tool_call>edit\n<arg_key>path</arg_key>\n<arg_value>a',
        calls: [['edit', '{"path":"a']],
        cut: true,
      },
      { raw: '<tool_call>ed', text: '<tool_call>ed' },
      {
        raw: '<tool_call>{"name": "edit"}\n</tool_call>',
        text: '<tool_call>{"name": "edit"}\n</tool_call>',
      },
    ],
  },
};

describe.each(Object.entries(FAMILIES))('%s', (_, { make, outputs }) => {
  test.each(outputs)('$raw', (output) => expectFound(make, output));
});

test('emits a string while it arrives and any other value when complete', () => {
  const scanner = qwenCoderCalls(any, schemas);
  const emitted = [
    '<function=edit><parameter=text>\nlong',
    ' te',
    'xt\n',
    '</parameter><parameter=line>1',
    '2</parameter>',
  ].map((piece) =>
    scanner
      .push(piece)
      .map((found) => (found.type === 'arguments' ? found.text : ''))
      .join(''),
  );
  expect(emitted).toEqual(['{"text":"long', ' te', 'xt', '","line":', '12']);
});

test('does not retain emitted text, however long the value is', () => {
  const scanner = qwenCoderCalls(any, schemas);
  scanner.push('<function=edit><parameter=text>');
  const cpuMs = cpuTimer();
  let emitted = 0;
  for (let i = 0; i < 100_000; i++) emitted += scanner.push('word ').length;
  expect(emitted).toBe(100_000);
  expect(cpuMs()).toBeLessThan(5_000);
});
