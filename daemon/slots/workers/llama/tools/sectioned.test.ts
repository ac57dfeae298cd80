import { describe, expect, test } from 'vitest';
import { expectFound, type Output, read } from '../../testing/found.ts';
import { deepseekCalls, deepseekToolInstructions } from './deepseek.ts';
import { kimiCalls } from './kimi.ts';
import type { CallScanner } from './pieces.ts';

const any = (name: string) => name !== '';
const PARIS: [string, string] = ['get_weather', '{"location":"Paris, France"}'];
const TOKYO: [string, string] = ['get_weather', '{"location":"東京","unit":"celsius"}'];
const [D_OPEN, D_CLOSE, D_CALL, D_END, D_SEP] = [
  '<｜tool▁calls▁begin｜>',
  '<｜tool▁calls▁end｜>',
  '<｜tool▁call▁begin｜>',
  '<｜tool▁call▁end｜>',
  '<｜tool▁sep｜>',
];
const fenced = (name: string, args: string) =>
  `${D_CALL}function${D_SEP}${name}\n\`\`\`json\n${args}\n\`\`\`${D_END}`;
const [K_OPEN, K_CLOSE, K_CALL, K_ARGS, K_END] = [
  '<|tool_calls_section_begin|>',
  '<|tool_calls_section_end|>',
  '<|tool_call_begin|>',
  '<|tool_call_argument_begin|>',
  '<|tool_call_end|>',
];

/** Example outputs of these families. */
const FAMILIES: Record<string, { make: () => CallScanner; outputs: Output[] }> = {
  DeepSeek: {
    make: () => deepseekCalls(any),
    outputs: [
      {
        raw: `${D_OPEN}${D_CALL}get_weather${D_SEP}{"location": "Paris, France"}${D_END}${D_CLOSE}`,
        calls: [PARIS],
      },
      {
        raw:
          `I'll look both up.${D_OPEN}${D_CALL}get_weather${D_SEP}{"location": "Paris, France"}${D_END}` +
          `${D_CALL}get_weather${D_SEP}{"location": "東京", "unit": "celsius"}${D_END}${D_CLOSE}`,
        text: "I'll look both up.",
        calls: [PARIS, TOKYO],
      },
      {
        raw: `${D_OPEN}${fenced('get_weather', '{"location": "Paris, France"}')}\n${fenced('get_weather', '{"location": "東京", "unit": "celsius"}')}${D_CLOSE}`,
        calls: [PARIS, TOKYO],
      },
      { raw: fenced('get_weather', '{"location": "Paris, France"}'), calls: [PARIS] },
      { raw: `<｜tool_calls_begin｜>${fenced('get_time', '{}')}`, calls: [['get_time', '{}']] },
      {
        raw: `${D_OPEN}\n${D_CALL}get_time${D_SEP}${D_END}${D_CLOSE} done`,
        calls: [['get_time', '{}']],
        text: 'done',
      },
      {
        raw: `${D_OPEN}${D_CALL}get_weather${D_SEP}{"location": "Par`,
        calls: [['get_weather', '{"location":"Par']],
        cut: true,
      },
      { raw: `${D_OPEN}${D_CALL}get_wea`, text: `${D_OPEN}${D_CALL}get_wea` },
      { raw: `${D_OPEN}nothing`, text: `${D_OPEN}nothing` },
      { raw: 'a <｜tool', text: 'a <｜tool' },
      {
        raw: `${D_CALL}no separator {"a": 1}`,
        text: `${D_CALL}no separator {"a": 1}`,
      },
    ],
  },
  'Kimi K2': {
    make: () => kimiCalls(any),
    outputs: [
      {
        raw: `${K_OPEN}${K_CALL}functions.get_weather:0${K_ARGS}{"location": "Paris, France"}${K_END}${K_CLOSE}`,
        calls: [PARIS],
      },
      {
        raw:
          `Both.${K_OPEN}\n${K_CALL}\nfunctions.get_weather:0${K_ARGS}\n{"location": "Paris, France"}\n${K_END}\n` +
          `${K_CALL}functions.get_weather:1${K_ARGS}{"location": "東京", "unit": "celsius"}${K_END}${K_CLOSE}`,
        text: 'Both.',
        calls: [PARIS, TOKYO],
      },
      {
        raw: `${K_OPEN}${K_CALL}functions.get_time:7${K_ARGS}${K_END}${K_CLOSE}`,
        calls: [['get_time', '{}']],
      },
      { raw: `${K_OPEN}${K_CALL}functions.get`, text: `${K_OPEN}${K_CALL}functions.get` },
      { raw: 'no <|tool call|>', text: 'no <|tool call|>' },
    ],
  },
};

describe.each(Object.entries(FAMILIES))('%s', (_, { make, outputs }) => {
  test.each(outputs)('$raw', (output) => expectFound(make, output));
});

test('Kimi names its calls with ids that its template expects', () => {
  const output = `${K_OPEN}${K_CALL}functions.f:3${K_ARGS}{}${K_END}${K_CALL}functions.f:4${K_ARGS}{}${K_END}`;
  expect(read(kimiCalls(any), [output]).ids).toEqual(['functions.f:3', 'functions.f:4']);
});

test('does not hold back an unterminated head indefinitely', () => {
  const scanner = kimiCalls(any);
  scanner.push(K_CALL);
  const emitted = scanner.push('word '.repeat(200));
  expect(emitted[0]).toEqual({ type: 'text', text: K_CALL });
});

test("DeepSeek's instructions describe each tool in the form of its training", () => {
  const instructions = deepseekToolInstructions([
    { type: 'function', function: { name: 'f', description: 'Does f.', parameters: { type: 'object' } } },
  ]);
  expect(instructions).toContain('### f\nDescription: Does f.\nParameters: {"type":"object"}');
  expect(instructions).toContain(`${D_OPEN}${D_CALL}name of the tool${D_SEP}`);
});
