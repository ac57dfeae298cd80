import { describe, expect, test } from 'vitest';
import { CHATML } from '../../models/testing/gguf/chat-templates.ts';
import { CHAT, startTestWorker, user } from './testing/worker-client.ts';

const SYSTEM = [{ role: 'system', content: 'You are helpful, and brief.' }];
const REPLY = { role: 'assistant', content: 'Hello from the tiny model.' };

describe('the prompt cache', () => {
  const { request } = startTestWorker({ template: CHATML }, { context: 4096, parallel: 2 });
  const cached = async (messages: object[]) => {
    const { usage } = await request(CHAT, { messages, temperature: 0 });
    return usage?.prompt_tokens_details.cached_tokens ?? 0;
  };

  test('a continued conversation reads only its new part', async () => {
    const talk = user('a question that is long enough to be worth keeping');
    await cached(talk);
    expect(await cached([...talk, REPLY, ...user('and more')])).toBeGreaterThan(60);
  });

  test('short chats with a common prefix do not evict a long conversation', async () => {
    const long = [...SYSTEM, ...user('much to read '.repeat(150))];
    await cached(long);
    for (const word of ['one', 'two', 'three']) await cached([...SYSTEM, ...user(word)]);
    expect(await cached([...long, REPLY, ...user('go on')])).toBeGreaterThan(1_900);
  });

  test('and reuse their common prefix', async () => {
    expect(await cached([...SYSTEM, ...user('four')])).toBeGreaterThan(40);
  });
});
