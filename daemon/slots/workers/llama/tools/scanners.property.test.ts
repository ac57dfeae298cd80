import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzing } from '../../../../test/harness/scale.ts';
import { read } from '../../testing/found.ts';
import { toolFamily } from './family.ts';

/** For each family: its template text, and the fragments of its models' answers. */
const FAMILIES: readonly [string, string, readonly string[]][] = [
  [
    'hermes',
    '<tool_call>',
    ['<tool_call>', '</tool_call>', '{"name": "f", ', '"arguments": ', "{'a': True}"],
  ],
  [
    'llama3',
    '<|python_tag|>',
    ['<|python_tag|>', '[', 'f(', 'a=1', ', ', ')', ']', '; ', '<function=f>', '{"a":1}'],
  ],
  [
    'mistral',
    '[TOOL_CALLS]',
    ['[TOOL_CALLS]', '[/TOOL_CALLS]', '[ARGS]', '[CALL_ID]', 'f', '[', '{"name":"f"}', ','],
  ],
  ['functools', 'functools[', ['functools', ' functools[', ']', '{"name":"f"', '"arguments":{}}', ',']],
  [
    'harmony',
    '<|channel|>',
    [
      '<|start|>',
      'assistant',
      '<|channel|>',
      'analysis',
      'final',
      ' to=functions.f ',
      '<|message|>',
      '<|end|>',
      '<|call|>',
      '<|return|>',
      '<|constrain|>',
      'words '.repeat(100),
    ],
  ],
  [
    'qwen-coder',
    '<function=',
    [
      '<tool_call>',
      '</tool_call>',
      '<function=f>',
      '</function>',
      '<parameter=a>',
      '<parameter=b>',
      '</parameter>',
      '</parameter',
      '/',
      '1',
      '>',
    ],
  ],
  [
    'glm',
    '<arg_key>',
    ['<tool_call>f', '</tool_call>', '<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>', 'a'],
  ],
  [
    'kimi',
    '<|tool_calls_section_begin|>',
    [
      '<|tool_calls_section_begin|>',
      '<|tool_call_begin|>',
      'functions.f:0',
      '<|tool_call_argument_begin|>',
      '<|tool_call_end|>',
    ],
  ],
  [
    'deepseek',
    '<｜tool▁calls▁begin｜>',
    [
      '<｜tool▁calls▁begin｜>',
      '<｜tool▁call▁begin｜>',
      '<｜tool▁sep｜>',
      'f',
      '<｜tool▁call▁end｜>',
      '<｜tool▁calls▁end｜>',
    ],
  ],
  ['json', '', ['```', 'json', '[', ']', '{"name": "f", "parameters": {}}']],
];
const COMMON = ['\n', ' ', '<', '{', '}', '"', "'", '\\', '{"a": [1]}', 'ü words', '\n\n'];
const SCHEMA = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } } };

test.each(FAMILIES)(
  '%s: reads any mix of its marks to the end, identically for any split',
  (id, marker, marks) => {
    const family = toolFamily(marker);
    expect(family.id).toBe(id);
    const make = () =>
      family.scanner(
        (name) => name === 'f',
        (name) => (name === 'f' ? SCHEMA : undefined),
      );
    const fragments = fc.array(fc.constantFrom(...marks, ...marks, ...COMMON), { maxLength: 24 });
    fc.assert(
      fc.property(fragments, fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 }), (parts, sizes) => {
        const text = parts.join('');
        const pieces: string[] = [];
        let at = 0;
        for (const size of sizes) {
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        const whole = read(make(), [text]);
        expect(read(make(), [...pieces, text.slice(at)])).toEqual(whole);
        expect(read(make(), [...text])).toEqual(whole);
      }),
      fuzzing(`scanners ${id}`, 10_000),
    );
  },
);
