import { expect, test } from 'vitest';
import { scanBody } from './body-index.ts';
import { render } from './edits.ts';
import { omni, wantsOmni } from './omni.ts';

test.each([
  ['{"omni":true,"a":1}', '{"a":1}', true],
  ['{"a":1,"omni":"true"}', '{"a":1}', false],
  ['{"a":1, "omni" : 1 ,"b":2}', '{"a":1,"b":2}', false],
  ['{"omni":false}', '{}', false],
  ['{"a":{"omni":true}}', '{"a":{"omni":true}}', false],
])('%s → %s', (text, expected, isOmni) => {
  const index = scanBody(Buffer.from(text));
  const edits = omni({ index, local: true, thinkingDefault: () => null });
  expect(render(index, edits).toString()).toBe(expected);
  expect(wantsOmni(index)).toBe(isOmni);
});
