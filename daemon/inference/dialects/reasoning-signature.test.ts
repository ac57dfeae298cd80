import { expect, test } from 'vitest';
import {
  parseSignature,
  reasoningMark,
  reasoningSignature,
  recordOrigin,
  thoughtOriginOf,
} from './reasoning-signature.ts';

test.each([
  [{ upstream: 'groq' }, 'reasoning', 'svc:reasoning:groq', 'groq'],
  [{ upstream: 'groq', slot: null }, 'reasoning_content', 'svc:reasoning_content:groq', 'groq'],
  [{ slot: 'agent', upstream: null }, 'reasoning', 'svc:reasoning:@agent', '@agent'],
] as const)('the signature of %j, %s', (server, field, signature, name) => {
  expect(reasoningSignature(server, field)).toBe(signature);
  expect(parseSignature(signature)).toEqual({ server: name, field, text: '' });
});

test('the usual field of a slot and unknown fields have no signature', () => {
  expect(reasoningSignature({ slot: 'agent' }, 'reasoning_content')).toBe('');
  expect(reasoningSignature({ upstream: 'groq' }, undefined)).toBe('');
  expect(reasoningSignature({}, 'reasoning')).toBe('');
});

test.each([
  [{ upstream: 'groq' }, 'reasoning', 'groq'],
  [{ slot: 'agent' }, 'reasoning_content', '@agent'],
  [{ slot: 'agent' }, undefined, ''],
  [{}, 'reasoning', ''],
] as const)('a mark of %j contains the text', (server, field, name) => {
  for (const text of ['hm', '', 'a: b\n\nsvc:reasoning:x:y', '🌸'])
    expect(parseSignature(reasoningMark(server, field, text))).toEqual({
      server: name,
      field: field ?? 'reasoning_content',
      text,
    });
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
