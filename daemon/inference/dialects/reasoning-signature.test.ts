import { expect, test } from 'vitest';
import { noteOrigin, originMark, originOfThoughts, readMark } from './reasoning-signature.ts';

test('a mark is read as it was written', () => {
  expect(readMark(originMark('groq', 'reasoning'))).toEqual({ upstream: 'groq', field: 'reasoning' });
  expect(originMark(null, 'reasoning')).toBe('');
  expect(originMark('groq', undefined)).toBe('');
});

test.each([
  undefined,
  null,
  7,
  '',
  'EqQBCkgIARABGAIiQL8',
  'svc:content:groq',
  'svc:reasoning:',
  'svc:reasoning:a b',
  'svc:reasoning:Groq',
  `svc:reasoning:${'a'.repeat(33)}`,
  'x svc:reasoning:groq',
  'svc:reasoning:groq\nx',
])('%j is none', (mark) => {
  const message = {};
  noteOrigin(message, mark);
  expect([readMark(mark), originOfThoughts(message)]).toEqual([undefined, undefined]);
});
