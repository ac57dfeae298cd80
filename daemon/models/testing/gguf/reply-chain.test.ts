import { expect, test } from 'vitest';
import { replyPieces } from './reply-chain.ts';

test('words keep their preceding space and concatenate to the reply', () => {
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

test('merges a reserved piece with the next', () => {
  expect(replyPieces('I am', new Set(['I']))).toEqual(['I am']);
});

test('refuses a reply that is only a reserved piece', () => {
  expect(() => replyPieces('I', new Set(['I']))).toThrow('single piece');
});
