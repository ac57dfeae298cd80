import { expect, test } from 'vitest';
import type { Json } from '../dialects/json.ts';
import { recordOrigin } from '../dialects/reasoning-signature.ts';
import { scanBody, TRANSLATED_NAMES } from './body-index.ts';
import { render } from './edits.ts';
import { translatedHistory } from './translated-history.ts';

const user = { role: 'user', content: 'hi' };
/** Reasoning of upstream `a` in the field `reasoning`. */
const thought = (more: Json): Json => {
  const message = { role: 'assistant', reasoning_content: 'hm', ...more };
  recordOrigin(message, 'svc:reasoning:a');
  return message;
};

function sent(
  messages: Json[],
  target: { upstream: string | null; local: boolean; slot?: string | null },
): unknown {
  const bytes = Buffer.from(JSON.stringify({ messages }));
  const index = scanBody(bytes, TRANSLATED_NAMES);
  const extraOf = (upstream: string, id: string) => (upstream === 'a' && id === 'c1' ? { s: 1 } : undefined);
  const context = { index, history: { messages, extraOf }, thinkingDefault: () => null, ...target };
  const result = render(index, translatedHistory(context));
  return (JSON.parse(String(result)) as Json).messages;
}

const a = { upstream: 'a', local: false };
const b = { upstream: 'b', local: false };

test('a turn with reasoning only is removed where reasoning is not sent', () => {
  for (const turn of [thought({}), thought({ content: '' })]) {
    expect(sent([user, turn, user], a)).toMatchObject([user, { reasoning: 'hm' }, user]);
    expect(sent([user, turn, user], b)).toEqual([user, user]);
  }
});

test('with text or calls only the reasoning is removed', () => {
  const calls = [{ id: 'c1' }, { id: 'c2' }];
  expect(sent([user, thought({ content: 'x' })], b)).toEqual([user, { role: 'assistant', content: 'x' }]);
  const message = thought({ content: null, tool_calls: calls });
  expect(sent([message], b)).toEqual([{ role: 'assistant', content: null, tool_calls: calls }]);
  const [first, second] = calls;
  expect(sent([message], a)).toEqual([
    {
      role: 'assistant',
      content: null,
      reasoning: 'hm',
      tool_calls: [{ ...first, extra_content: { s: 1 } }, second],
    },
  ]);
});

test('local engines and untranslated chats get the original', () => {
  const messages = [user, thought({ content: 'x' })];
  for (const target of [
    { upstream: null, local: true },
    { upstream: 'b', local: true },
  ])
    expect(sent(messages, target)).toEqual(messages);
  const index = scanBody(Buffer.from(JSON.stringify({ messages })));
  expect(translatedHistory({ index, thinkingDefault: () => null, ...b })).toEqual([]);
});

test('reasoning of a slot goes back to it in its field', () => {
  const message = { role: 'assistant', reasoning_content: 'hm', content: 'x' };
  recordOrigin(message, 'svc:reasoning:@agent');
  const sentTo = (slot: string | null) => sent([message], { upstream: null, local: true, slot });
  expect(sentTo('agent')).toEqual([{ role: 'assistant', content: 'x', reasoning: 'hm' }]);
  for (const slot of ['other', null]) expect(sentTo(slot)).toEqual([message]);
});
