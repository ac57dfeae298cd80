import { join, sep } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../../test/harness/any-text.ts';
import { seed } from '../../test/harness/scale.ts';
import { collide, isRepoName, isSafePath } from './hub-names.ts';

describe('DL04 a path of the hub', () => {
  test.each([
    'model.gguf',
    'UD-Q4_K_XL/model-00001-of-00002.gguf',
    'espeak-ng-data/voices/!v/Mr serious',
    'vits/tokens.txt',
    'modèle.gguf',
    '模型.gguf',
    '1_Pooling/config.json',
  ])('accepts %s', (path) => expect(isSafePath(path)).toBe(true));

  test.each([
    '',
    '.',
    '..',
    '../x',
    'a/../x',
    '/x',
    'a//x',
    'a/',
    'a\\x',
    'C:x',
    'x\0',
    'x\n',
    'x\u202e',
    '\u200bx',
    'x.',
    'x ',
    ' x',
    '.x',
    '-x',
    'con',
    'CON.gguf',
    'lpt1.txt',
    'a/nul/x',
    'x*',
    'x?',
    'x|y',
    'e\u0301.gguf',
    'a'.repeat(201),
    `${'a/'.repeat(300)}x`,
  ])('refuses %j', (path) => expect(isSafePath(path)).toBe(false));

  test('an accepted path stays below its folder', () => {
    const bits = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      'a',
      'B',
      '-',
      ' ',
      '\0',
      'é',
      ':',
      '%2e',
      '~',
      'con',
      '\u202e',
      '.gguf',
    );
    const path = fc.oneof(
      anyText(),
      fc.array(bits, { maxLength: 12 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(path, (text) => {
        if (!isSafePath(text)) return;
        const resolved = join('/models/owner/name', ...text.split('/'));
        expect(resolved.startsWith(`/models/owner/name${sep}`)).toBe(true);
        expect(resolved.slice('/models/owner/name/'.length)).toBe(text);
        expect(text).not.toMatch(/[\0-\x1f\x7f\\:]/);
      }),
      { seed: seed('hub names'), numRuns: 2_000 },
    );
  });
});

test.each([
  ['owner/name', true],
  ['a/b.c-d_E', true],
  ['owner', false],
  ['owner/name/x', false],
  ['../name', false],
  ['owner/..', false],
  ['owner/a..b', false],
  ['.owner/name', false],
  ['owner/name.', false],
  ['con/name', false],
  ['owner/na me', false],
  ['owner/näme', false],
])('repository %s: %s', (repo, good) => expect(isRepoName(repo)).toBe(good));

test.each([
  [['a', 'b'], false],
  [['a', 'A'], true],
  [['a', 'a'], true],
  [['a', 'a/b'], true],
  [['ﬁ', 'fi'], true],
  [['a/b', 'a/c'], false],
])('%j collide: %s', (paths, bad) => expect(collide(paths)).toBe(bad));
