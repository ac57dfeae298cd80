import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UNSUPPORTED_KEYWORDS } from './json/schema-grammar.ts';
import { REFUSED_FIELDS, refuseFields } from './refused-fields.ts';

test.each([
  ['mirostat', 2],
  ['dynatemp_range', 0.5],
  ['top_n_sigma', 1],
  ['samplers', ['top_k']],
  ['ignore_eos', true],
  ['audio', { voice: 'alloy' }],
  ['modalities', ['text', 'audio']],
  ['web_search_options', {}],
  ['lora', [{ id: 0 }]],
  ['cache_prompt', false],
])('refuses %s: %j and names the field', (field, value) => {
  expect(() => refuseFields({ [field]: value })).toThrow(
    expect.objectContaining({ status: 422, param: field, message: expect.stringContaining(`${field}: `) }),
  );
});

test('accepts values that request nothing, and unknown fields', () => {
  expect(() =>
    refuseFields({
      mirostat: 0,
      top_n_sigma: -1,
      samplers: [],
      ignore_eos: false,
      audio: null,
      modalities: ['text'],
      store: true,
      service_tier: 'priority',
      cache_prompt: true,
      metadata: { a: 'b' },
      user: 'me',
      whatever: {},
    }),
  ).not.toThrow();
});

test('the documentation lists the refused fields', () => {
  const root = join(import.meta.dirname, '..', '..', '..', '..');
  const text = readFileSync(join(root, 'docs', 'internals', 'llama-server-differences.md'), 'utf8');
  const missing = [...REFUSED_FIELDS, ...UNSUPPORTED_KEYWORDS].filter(
    (name) => !text.includes(`\`${name}\``),
  );
  expect(missing).toEqual([]);
});
