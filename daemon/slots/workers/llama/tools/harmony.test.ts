import { describe, expect, test } from 'vitest';
import { expectFound, type Output } from '../../testing/found.ts';
import { harmonyMessages, openedHeader } from './harmony.ts';

const offered = (name: string) => (name === 'get_weather' ? { type: 'object' } : undefined);
const make =
  (raw = false, header = '') =>
  () =>
    harmonyMessages({ raw, header }, (name) => name !== '', offered);
const THINK = '<|channel|>analysis<|message|>Need to use function get_weather.<|end|><|start|>assistant';
const SF: [string, string] = ['get_weather', '{"location":"San Francisco"}'];

/** Outputs of gpt-oss, without the token that ends an answer. */
const OUTPUTS: Output[] = [
  {
    raw: '<|channel|>analysis<|message|>User asks: "What is 2 + 2?" Simple.<|end|><|start|>assistant<|channel|>final<|message|>2 + 2 = 4.',
    reasoning: 'User asks: "What is 2 + 2?" Simple.',
    text: '2 + 2 = 4.',
  },
  {
    raw: `${THINK}<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"location": "San Francisco"}`,
    reasoning: 'Need to use function get_weather.',
    calls: [SF],
  },
  // The recipient can be in the role section.
  {
    raw: `${THINK} to=functions.get_weather<|channel|>commentary json<|message|>{"location":"San Francisco"}<|call|>`,
    reasoning: 'Need to use function get_weather.',
    calls: [SF],
  },
  {
    raw: ' to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{"location":"San Francisco"}',
    calls: [SF],
  },
  {
    raw: `${THINK}<|channel|>commentary<|message|>I'll look it up.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"location":"San Francisco"}`,
    reasoning: 'Need to use function get_weather.',
    text: "I'll look it up.",
    calls: [SF],
  },
  {
    raw: '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>\n<|start|>assistant<|channel|>commentary<|message|>One.<|end|><|start|>assistant<|channel|>final<|message|>Two.<|return|>',
    reasoning: 'a\nb',
    text: 'One.\n\nTwo.',
  },
  { raw: '<|channel|>commentary to=functions.now<|message|><|call|>', calls: [['now', '{}']] },
  {
    raw: '<|channel|>commentary to=get_weather code<|message|>{"location":"San Francisco"}',
    calls: [SF],
  },
  // Built-in tools that the request does not offer.
  {
    raw: '<|channel|>analysis to=python code<|message|>print(1)<|end|><|start|>assistant<|channel|>final<|message|>1',
    reasoning: 'print(1)',
    text: '1',
  },
  {
    raw: '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"location": "a<|end|>b", "n": [1, {',
    calls: [['get_weather', '{"location":"a<|end|>b","n":[1,{']],
    cut: true,
  },
  { raw: '<|channel|>analysis<|message|>cut off: a < b <|e', reasoning: 'cut off: a < b <|e' },
  { raw: '<|channel|>commentary to=functions.get_wea', text: '' },
  { raw: 'No header, ü < 5.', text: 'No header, ü < 5.' },
  { raw: '<|chan', text: '<|chan' },
];

describe('messages by header', () => {
  test.each(OUTPUTS)('$raw', (output) => expectFound(make(), output));
});

test('leaves reasoning with its marks in the text when requested', () => {
  expectFound(make(true), {
    raw: '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.',
    text: '<|channel|>analysis<|message|>Hm.<|end|>\n\nYes.',
  });
});

test('continues a header that the prompt started', () => {
  expect(openedHeader('<|start|>user<|message|>hi<|end|><|start|>assistant')).toBe('');
  const final = openedHeader('<|start|>assistant<|channel|>final<|message|>');
  expectFound(make(false, final), { raw: 'Yes.', text: 'Yes.' });
  expectFound(make(false, '<|channel|>analysis'), { raw: '<|message|>Hm.<|end|>', reasoning: 'Hm.' });
});
