import { describe, expect, test } from 'vitest';
import type { Json } from '../dialects/json.ts';
import { recordTextOnly } from '../dialects/text-only.ts';
import { scanBody, TRANSLATED_NAMES } from './body-index.ts';
import type { BodyContext, MediaSupport } from './body-rule.ts';
import { render } from './edits.ts';
import { systemMessages } from './system-messages.ts';
import { translatedHistory } from './translated-history.ts';

const user = { role: 'user', content: 'hi' };
const assistant = { role: 'assistant', content: 'yes' };
const system = (content: string, role = 'system') => ({ role, content });

interface Target extends Partial<BodyContext> {
  reads?: MediaSupport;
}

function sent(messages: Json[], { reads = 'unknown', ...target }: Target = {}) {
  const index = scanBody(Buffer.from(JSON.stringify({ messages })), TRANSLATED_NAMES);
  const ignored: string[] = [];
  const context: BodyContext = {
    index,
    local: true,
    upstream: null,
    history: { messages, extraOf: () => undefined },
    thinkingDefault: () => null,
    media: () => reads,
    ignore: (name) => void ignored.push(name),
    ...target,
  };
  const edits = [...translatedHistory(context), ...systemMessages(context)];
  return { messages: (JSON.parse(String(render(index, edits))) as Json).messages, ignored };
}

describe('system messages after the first turn', () => {
  const messages = [system('S'), user, assistant, system('N'), user];
  const reminded = [system('S'), user, assistant, { role: 'user', content: expect.stringContaining('N') }];

  test.each<[string, Target, unknown[]]>([
    ['stay for an engine that takes them', { takesLaterSystem: true }, messages],
    ['are reminders for other engines', {}, reminded],
    ['are reminders for an upstream', { upstream: 'a' }, reminded],
    ['are reminders for a provider', { upstream: 'a', local: false }, reminded],
    ['are reminders while nothing is known', { takesLaterSystem: false, media: undefined }, reminded],
  ])('%s', (_, target, expected) => {
    expect(sent(messages, target).messages).toEqual(expected);
  });

  test('the role developer is for providers only', () => {
    const chat = [system('S', 'developer'), user, assistant, system('N', 'developer')];
    expect(sent(chat, { takesLaterSystem: true }).messages).toEqual([
      system('S'),
      user,
      assistant,
      system('N'),
    ]);
    expect(sent(chat, { local: false, upstream: 'a' }).messages).toMatchObject([
      chat[0],
      user,
      assistant,
      {},
    ]);
  });
});

describe('messages with images', () => {
  const image = { type: 'image_url', image_url: { url: 'data:,' } };
  const withImages = () => {
    const older: Json = { role: 'user', content: [image] };
    recordTextOnly(older, { role: 'user', content: 'placeholder' });
    const result: Json = { role: 'tool', tool_call_id: 'c', content: '' };
    recordTextOnly(result, { role: 'tool', tool_call_id: 'c', content: 'placeholder' });
    const shown: Json = { role: 'user', content: [image] };
    recordTextOnly(shown, null);
    return [older, assistant, result, shown, user];
  };
  const plain = [
    { role: 'user', content: 'placeholder' },
    assistant,
    { role: 'tool', tool_call_id: 'c', content: 'placeholder' },
    user,
  ];

  test.each<[string, Target, boolean]>([
    ['a slot without vision', { reads: 'text' }, true],
    ['a slot with vision', { reads: 'images' }, false],
    ['an engine of unknown abilities', { reads: 'unknown' }, false],
    ['an upstream without vision', { reads: 'text', upstream: 'a' }, true],
    ['a provider without vision', { reads: 'text', upstream: 'a', local: false }, true],
    ['a provider of unknown abilities', { upstream: 'a', local: false }, false],
  ])('for %s', (_, target, replaced) => {
    const messages = withImages();
    const made = sent(messages, target);
    expect(made.messages).toEqual(replaced ? plain : messages);
    expect(made.ignored.length > 0).toBe(replaced);
  });
});
