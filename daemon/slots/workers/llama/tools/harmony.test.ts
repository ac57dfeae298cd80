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
    said: '<|channel|>analysis<|message|>User asks: "What is 2 + 2?" Simple.<|end|><|start|>assistant<|channel|>final<|message|>2 + 2 = 4.',
    reasoning: 'User asks: "What is 2 + 2?" Simple.',
    text: '2 + 2 = 4.',
  },
  {
    said: `${THINK}<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"location": "San Francisco"}`,
    reasoning: 'Need to use function get_weather.',
    calls: [SF],
  },
  // The recipient can be in the role section.
  {
    said: `${THINK} to=functions.get_weather<|channel|>commentary json<|message|>{"location":"San Francisco"}<|call|>`,
    reasoning: 'Need to use function get_weather.',
    calls: [SF],
  },
  {
    said: ' to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{"location":"San Francisco"}',
    calls: [SF],
  },
  {
    said: `${THINK}<|channel|>commentary<|message|>I'll look it up.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"location":"San Francisco"}`,
    reasoning: 'Need to use function get_weather.',
    text: "I'll look it up.",
    calls: [SF],
  },
  {
    said: '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>\n<|start|>assistant<|channel|>commentary<|message|>One.<|end|><|start|>assistant<|channel|>final<|message|>Two.<|return|>',
    reasoning: 'a\nb',
    text: 'One.\n\nTwo.',
  },
  { said: '<|channel|>commentary to=functions.now<|message|><|call|>', calls: [['now', '{}']] },
  {
    said: '<|channel|>commentary to=get_weather code<|message|>{"location":"San Francisco"}',
    calls: [SF],
  },
  // Built-in tools that the request does not offer.
  {
    said: '<|channel|>analysis to=python code<|message|>print(1)<|end|><|start|>assistant<|channel|>final<|message|>1',
    reasoning: 'print(1)',
    text: '1',
  },
  {
    said: '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"location": "a<|end|>b", "n": [1, {',
    calls: [['get_weather', '{"location":"a<|end|>b","n":[1,{']],
    cut: true,
  },
  { said: '<|channel|>analysis<|message|>cut off: a < b <|e', reasoning: 'cut off: a < b <|e' },
  { said: '<|channel|>commentary to=functions.get_wea', text: '' },
  { said: 'No header, ü < 5.', text: 'No header, ü < 5.' },
  { said: '<|chan', text: '<|chan' },
];

describe('messages by header', () => {
  test.each(OUTPUTS)('$said', (output) => expectFound(make(), output));
});

test('leaves reasoning with its marks in the text when requested', () => {
  expectFound(make(true), {
    said: '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.',
    text: '<|channel|>analysis<|message|>Hm.<|end|>\n\nYes.',
  });
});

test('continues a header that the prompt started', () => {
  expect(openedHeader('<|start|>user<|message|>hi<|end|><|start|>assistant')).toBe('');
  const final = openedHeader('<|start|>assistant<|channel|>final<|message|>');
  expectFound(make(false, final), { said: 'Yes.', text: 'Yes.' });
  expectFound(make(false, '<|channel|>analysis'), { said: '<|message|>Hm.<|end|>', reasoning: 'Hm.' });
});
