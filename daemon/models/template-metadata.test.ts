import { expect, test } from 'vitest';
import { templateMetadata, thinkingDefault } from './template-metadata.ts';

test.each([
  ['{%- if enable_thinking is defined and enable_thinking is false %}', true],
  ['{{ "/nothink" if (enable_thinking is defined and not enable_thinking) }}', true],
  ['{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}', true],
  ['{%- if enable_thinking is defined and enable_thinking is true %}', false],
  ['{%- if enable_thinking is defined and enable_thinking -%}', false],
  ['{% set enable_thinking = false %}', false],
  ['{{ enable_thinking | tojson }}', null],
  ['{{ messages[0].content }}', null],
])('%s', (template, expected) => {
  expect(thinkingDefault(template)).toBe(expected);
});

test('detects what a template supports', () => {
  const plain = { 'tokenizer.chat_template': '{% for message in messages %}{% endfor %}' };
  const rich = { ...plain, 'tokenizer.chat_template.tool_use': '{% if tools %}<think>{% endif %}' };
  expect(templateMetadata({})).toMatchObject({ chatTemplate: false, capabilities: { tools: false } });
  expect(templateMetadata(plain)).toMatchObject({
    chatTemplate: true,
    capabilities: { tools: false, reasoning: false },
  });
  expect(templateMetadata(rich).capabilities).toEqual({ tools: true, vision: false, reasoning: true });
});
