import { expect, test } from 'vitest';
import { scanBody } from './body-index.ts';
import { rewriteChat, rewriteCompletion } from './deviations.ts';
import { includesUsage } from './stream-usage.ts';

const context = (body: string, streamUsage: boolean) => ({
  index: scanBody(Buffer.from(body)),
  local: false,
  streamUsage,
  thinkingDefault: () => null,
});
const chatOf = (body: string, needed = true) => String(rewriteChat(context(body, needed), 'm', 'm'));
const REQUESTED = '"stream_options":{"include_usage":true}';

test.each([
  ['{"model":"m","messages":[],"stream":true}', `{${REQUESTED},"model":"m","messages":[],"stream":true}`],
  [
    '{"messages":[],"stream":true, "stream_options": null}',
    '{"messages":[],"stream":true, "stream_options": {"include_usage":true}}',
  ],
  ['{"messages":[],"stream":true,"stream_options":{}}', `{"messages":[],"stream":true,${REQUESTED}}`],
  [
    '{"messages":[],"stream":true,"stream_options":{"include_usage":false}}',
    `{"messages":[],"stream":true,${REQUESTED}}`,
  ],
  [
    '{"messages":[],"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":null}}',
    '{"messages":[],"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true}}',
  ],
])('%s requests the token counts', (body, expected) => {
  expect(chatOf(body)).toBe(expected);
  expect(includesUsage(scanBody(Buffer.from(body)))).toBe(false);
});

test.each([
  '{"model":"m","messages":[]}',
  '{"model":"m","messages":[],"stream":false}',
  '{"model":"m","messages":[],"stream":"true"}',
  `{"model":"m","messages":[],"stream":true,${REQUESTED}}`,
  '{"model":"m","messages":[],"stream":true,"stream_options":7}',
  '{"model":"m","messages":[],"stream":true,"stream_options":[true]}',
])('%s stays unchanged', (body) => expect(chatOf(body)).toBe(body));

test('a target that needs no request gets none', () => {
  const body = '{"model":"m","messages":[],"stream":true}';
  expect(chatOf(body, false)).toBe(body);
});

test('a completion gets the same bytes', () => {
  const body = '{"model":"m","prompt":"a","stream":true}';
  expect(String(rewriteCompletion(context(body, true), 'm', 'm'))).toBe(
    `{${REQUESTED},"model":"m","prompt":"a","stream":true}`,
  );
});

test('the field of the caller is recognised', () =>
  expect(includesUsage(scanBody(Buffer.from(`{${REQUESTED}}`)))).toBe(true));
