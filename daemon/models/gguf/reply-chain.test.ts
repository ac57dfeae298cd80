import { expect, test } from 'vitest';
import { replyPieces } from './reply-chain.ts';

test('words keep the space before them and join to the reply', () => {
  expect(replyPieces('Hello from here.', new Set())).toEqual(['Hello', ' from', ' here.']);
});

test.each([
  'the cat and the dog and the bird',
  'no no no no',
  'a b a b',
  'one line\nanother line\nthird line',
  'echo echo',
])('every piece of "%s" is different and nothing is lost', (reply) => {
  const pieces = replyPieces(reply, new Set());
  expect(pieces.join('')).toBe(reply);
  expect(new Set(pieces).size).toBe(pieces.length);
});

test('a piece that the vocabulary has already is joined with the next', () => {
  expect(replyPieces('I am', new Set(['I']))).toEqual(['I am']);
});

test('a reply that is nothing but a taken piece is refused', () => {
  expect(() => replyPieces('I', new Set(['I']))).toThrow('single piece');
});
