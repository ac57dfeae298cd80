import { expect, test } from 'vitest';
import { errorInBody, errorInEvents } from './in-band-error.ts';

const event = (error: unknown) => `data: ${JSON.stringify({ error })}\n\n`;
const chunk = 'data: {"choices":[{"delta":{"content":"data: \\"error\\""}}],"error":null}\n\n';

test.each([
  [event({ message: 'gpu lost', code: 500 }), 'upstream.error', 500],
  [`${event({ message: 'gpu lost', code: '503' })}data: [DONE]\n\n`, 'upstream.error', 503],
  [event({ code: 'slot.failed' }), 'slot.failed', 503],
  [event({ code: 'toString' }), 'upstream.error', null],
  [event({ type: 'server_error' }), 'upstream.error', 500],
  [event({ type: 'not_found_error' }), 'upstream.error', 404],
  [event({ code: 'upstream.error', type: 'rate_limit_error' }), 'upstream.error', 429],
  [event({ code: 'upstream.error', type: 'other' }), 'upstream.error', 502],
  [event('gpu lost'), 'upstream.error', null],
  [`event: error\r\ndata:{"error":{"code":400}}\r\n\r\n${chunk}`, 'upstream.error', 400],
  [`ata: {"error":{"co\n\n${event({})}`, 'upstream.error', null],
])('%j reports a failure', (end, code, status) => {
  expect(errorInEvents(Buffer.from(chunk + end))).toMatchObject({ code, status });
});

test.each([
  '',
  chunk,
  'data: [DONE]\n\n',
  ': "error"\n\n',
  'data: {"error":{"code":5\n\n',
  event(null),
  event(''),
])('%j reports no failure', (end) => expect(errorInEvents(Buffer.from(end))).toBeNull());

test.each([
  [{ error: { code: 'rate_limit_exceeded' } }, 'rate_limit_exceeded'],
  [{ error: { code: null } }, 'upstream.error'],
  [{ error: { code: '' } }, 'upstream.error'],
  [{ error: { code: 'some \u001b[2J words' } }, 'upstream.error'],
  [null, 'upstream.error'],
])('%j has a code', (body, code) => {
  expect(errorInBody(body, 429)).toMatchObject({ code, status: 429 });
});

test.each([
  [{ error: { message: 'gpu lost', code: 500 } }, 'gpu lost'],
  [{ error: { code: 500 } }, null],
  [{ error: { message: ['gpu lost'] } }, null],
])('%j has a message', (body, message) => {
  expect(errorInBody(body, 500).message).toBe(message);
  expect(errorInEvents(Buffer.from(event(body.error)))?.message).toBe(message);
});

test('an error that is a text alone has it as its message', () => {
  expect(errorInEvents(Buffer.from(event('gpu lost')))?.message).toBe('gpu lost');
});
