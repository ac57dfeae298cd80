import { expect, test } from 'vitest';
import { chatSuccessors } from './chat-successors.ts';
import { chatVocabulary } from './chat-vocabulary.ts';
import { TINY_REPLY, tinyChat } from './tiny-chat.ts';
import { tinyEmbed } from './tiny-embed.ts';
import { tinyRerank } from './tiny-rerank.ts';
import { encodeGguf } from './writer.ts';

const tool = { name: 'get_time', args: { zone: 'UTC' } };

test('the generators are deterministic and the files small', () => {
  for (const make of [tinyChat, tinyEmbed, tinyRerank]) {
    const bytes = encodeGguf(make());
    expect(bytes.equals(encodeGguf(make()))).toBe(true);
    expect(bytes.length).toBeLessThan(1_100_000);
  }
});

test('no token occurs twice in the vocabulary, even if the reply repeats words', () => {
  const { tokens } = chatVocabulary('a dog and a cat and a bird', tool);
  expect(new Set(tokens).size).toBe(tokens.length);
});

function follow(reply: string, from: string): string[] {
  const vocabulary = chatVocabulary(reply, tool);
  const next = chatSuccessors(vocabulary, false);
  const pieces: string[] = [];
  let token = next.get(from.charCodeAt(0))?.[0];
  while (token !== undefined && token !== vocabulary.end && pieces.length < 100) {
    pieces.push((vocabulary.tokens[token] ?? '').replaceAll('Ġ', ' ').replaceAll('Ċ', '\n'));
    token = next.get(token)?.[0];
  }
  return pieces;
}

test.each(['\n', 'x', '7', '"', '}'])('without runs %j leads to the complete reply', (from) => {
  expect(follow(TINY_REPLY, from).join('')).toBe(TINY_REPLY);
  expect(follow('the cat and the dog and the bird', from).join('')).toBe('the cat and the dog and the bird');
});

test('with runs a letter leads to the next one and z to a', () => {
  const next = chatSuccessors(chatVocabulary(TINY_REPLY, tool), true);
  expect(next.get('a'.charCodeAt(0))?.[0]).toBe('b'.charCodeAt(0));
  expect(next.get('z'.charCodeAt(0))?.[0]).toBe('a'.charCodeAt(0));
  expect(next.get('9'.charCodeAt(0))?.[0]).toBe('0'.charCodeAt(0));
});
