import { describe, expect, it } from 'vitest';
import { scanBody } from '../rewrite/body-index.ts';
import { conversationPrefix, MAX_CONVERSATIONS, PrefixMemory } from './conversation-prefix.ts';

const message = (role: string, content: string) => ({ role, content });
const prefixOf = (messages: object[], model = 'm') =>
  conversationPrefix(scanBody(Buffer.from(JSON.stringify({ model, messages }))), model);

const SYSTEM = message('system', 'You are an agent.');
const FIRST = message('user', 'What is in the garden?');
const TURNS = [SYSTEM, FIRST, message('assistant', 'A gnome.'), message('user', 'And in the shed?')];

describe('conversationPrefix', () => {
  it('stays the same while the conversation goes on', () => {
    const digests = [TURNS.slice(0, 2), TURNS.slice(0, 3), TURNS].map((turns) => prefixOf(turns)?.digest);
    expect(new Set(digests).size).toBe(1);
    expect(prefixOf(TURNS.slice(0, 2))?.isContinued).toBe(false);
    expect(prefixOf(TURNS)?.isContinued).toBe(true);
  });

  it.each([
    ['another first message', [SYSTEM, message('user', 'What is in the kitchen?')], 'm'],
    ['another system prompt', [message('system', 'You are a cat.'), FIRST], 'm'],
    ['another model', [SYSTEM, FIRST], 'n'],
  ])('differs for %s', (_, messages, model) => {
    expect(prefixOf(messages, model)?.digest).not.toBe(prefixOf([SYSTEM, FIRST])?.digest);
  });

  it('reads only both ends of a long beginning, and its length', () => {
    const long = (start: string, middle: string, end: string) =>
      prefixOf([message('user', `${start}${'x'.repeat(10_000)}${middle}${'y'.repeat(10_000)}${end}`)])
        ?.digest;
    expect(long('a', 'b', 'c')).toBe(long('a', 'B', 'c'));
    expect(long('a', 'b', 'c')).not.toBe(long('a', 'bb', 'c'));
    expect(long('a', 'b', 'c')).not.toBe(long('A', 'b', 'c'));
    expect(long('a', 'b', 'c')).not.toBe(long('a', 'b', 'C'));
  });

  it('is null without a beginning', () => {
    expect(prefixOf([])).toBeNull();
    expect(prefixOf([message('assistant', 'Hello.'), FIRST])).toBeNull();
  });
});

describe('PrefixMemory', () => {
  it('returns conversations that continue, to where they were served last', () => {
    const memory = new PrefixMemory();
    memory.record(prefixOf([SYSTEM, FIRST]), 'desk');
    expect(memory.ownerOf(prefixOf([SYSTEM, FIRST]))).toBeNull();
    expect(memory.ownerOf(prefixOf(TURNS))).toBe('desk');
    memory.record(prefixOf(TURNS), 'den');
    expect(memory.ownerOf(prefixOf(TURNS))).toBe('den');
  });

  it('is bounded', () => {
    const memory = new PrefixMemory();
    const nth = (n: number) => ({ digest: String(n), isContinued: true });
    for (let n = 0; n <= MAX_CONVERSATIONS; n++) memory.record(nth(n), 'desk');
    expect(memory.ownerOf(nth(0))).toBeNull();
    expect(memory.ownerOf(nth(MAX_CONVERSATIONS))).toBe('desk');
  });
});
