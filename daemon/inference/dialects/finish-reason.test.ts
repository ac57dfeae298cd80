import { expect, test } from 'vitest';
import { BODIES, MESSAGES, RESPONSES } from '../testing/dialects.ts';
import { finishReason } from './finish-reason.ts';
import { messages } from './messages/messages.ts';
import { responses } from './responses/responses.ts';

const BY = { model: 'm', upstream: null };
const message = { role: 'assistant', content: 'half' };

/** The end of a message and of a response that a chat with this finish reason becomes. */
test.each([
  ['length', 'max_tokens', 'max_output_tokens'],
  ['model_length', 'max_tokens', 'max_output_tokens'],
  ['MAX_TOKENS', 'max_tokens', 'max_output_tokens'],
  ['max_length', 'max_tokens', 'max_output_tokens'],
  ['model_context_window_exceeded', 'max_tokens', 'max_output_tokens'],
  ['content_filter', 'refusal', 'content_filter'],
  ['sensitive', 'refusal', 'content_filter'],
  ['SAFETY', 'refusal', 'content_filter'],
  ['RECITATION', 'refusal', 'content_filter'],
  ['refusal', 'refusal', 'content_filter'],
  ['tool_use', 'tool_use', null],
  ['function_call', 'tool_use', null],
  ['stop', 'end_turn', null],
  ['STOP', 'end_turn', null],
  ['eos_token', 'end_turn', null],
  ['something new', 'end_turn', null],
])('%s', (reason, stop, incomplete) => {
  const chat = { choices: [{ index: 0, message, finish_reason: reason }] };
  const bodyOf = (body: object) => Buffer.from(JSON.stringify(body));
  expect(messages(bodyOf(BODIES[MESSAGES]), null).whole(chat, BY).stop_reason).toBe(stop);
  const response = responses(bodyOf(BODIES[RESPONSES]), null).whole(chat, BY);
  expect(response.incomplete_details).toEqual(incomplete === null ? null : { reason: incomplete });
  expect(response.status).toBe(incomplete === null ? 'completed' : 'incomplete');
});

test('an unknown reason stays', () => expect(finishReason('something new')).toBe('something new'));
