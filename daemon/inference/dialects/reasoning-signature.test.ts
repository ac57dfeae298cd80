import { expect, test } from 'vitest';
import { parseSignature, reasoningSignature, recordOrigin, thoughtOriginOf } from './reasoning-signature.ts';

test('a written signature is parsed unchanged', () => {
  expect(parseSignature(reasoningSignature('groq', 'reasoning'))).toEqual({
    upstream: 'groq',
    field: 'reasoning',
  });
  expect(reasoningSignature(null, 'reasoning')).toBe('');
  expect(reasoningSignature('groq', undefined)).toBe('');
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
])('%j is not a signature', (mark) => {
  const message = {};
  recordOrigin(message, mark);
  expect([parseSignature(mark), thoughtOriginOf(message)]).toEqual([undefined, undefined]);
});
