import { expect, test } from 'vitest';
import { scanBody } from './body-index.ts';
import { render } from './edits.ts';
import { thinking } from './thinking.ts';

const run = (text: string, thinkingDefault: boolean | null, local = true) => {
  const index = scanBody(Buffer.from(text));
  return render(index, thinking({ index, local, thinkingDefault: () => thinkingDefault })).toString();
};

test.each([
  // the caller's flag moves
  ['{"a":1,"enable_thinking":false}', true, '{"chat_template_kwargs":{"enable_thinking":false},"a":1}'],
  [
    '{"enable_thinking":true,"chat_template_kwargs":{"x":1}}',
    null,
    '{"chat_template_kwargs":{"enable_thinking":true,"x":1}}',
  ],
  // an existing value wins
  [
    '{"enable_thinking":true,"chat_template_kwargs":{"enable_thinking":false}}',
    true,
    '{"chat_template_kwargs":{"enable_thinking":false}}',
  ],
  [
    '{"chat_template_kwargs":{"en\\u0061ble_thinking":false}}',
    true,
    '{"chat_template_kwargs":{"en\\u0061ble_thinking":false}}',
  ],
  // both missing: the default, other keys preserved
  ['{"a":1}', true, '{"chat_template_kwargs":{"enable_thinking":true},"a":1}'],
  ['{}', false, '{"chat_template_kwargs":{"enable_thinking":false}}'],
  ['{"chat_template_kwargs":{}}', false, '{"chat_template_kwargs":{"enable_thinking":false}}'],
  [
    '{"chat_template_kwargs":{"k":1e400}}',
    false,
    '{"chat_template_kwargs":{"enable_thinking":false,"k":1e400}}',
  ],
  [
    '{"chat_template_kwargs":null,"enable_thinking":null}',
    true,
    '{"chat_template_kwargs":{"enable_thinking":true}}',
  ],
  // no default and no flag: unchanged
  ['{ "a":1 }', null, '{ "a":1 }'],
  // other values stay unchanged
  ['{"enable_thinking":"yes"}', true, '{"enable_thinking":"yes"}'],
  ['{"chat_template_kwargs":[1]}', true, '{"chat_template_kwargs":[1]}'],
])('%s with default %s', (text, defaultValue, expected) => {
  expect(run(text, defaultValue)).toBe(expected);
});

test('a third-party provider gets neither field, nor a default', () => {
  expect(run('{"enable_thinking":true,"a":1,"chat_template_kwargs":{"x":1}}', true, false)).toBe('{"a":1}');
  expect(run('{"a":1}', true, false)).toBe('{"a":1}');
});
