import { describe, expect, test } from 'vitest';
import { languageCode } from './language.ts';

const WHISPER = ['en', 'zh', 'de', 'es', 'fr', 'pt', 'no', 'nn', 'tl', 'jw', 'he', 'nl', 'ht', 'my', 'yue'];

describe('languageCode', () => {
  test.each([
    ['de', 'de'],
    ['DE', 'de'],
    [' de ', 'de'],
    ['de-DE', 'de'],
    ['de_AT', 'de'],
    ['zh-Hans-CN', 'zh'],
    ['pt-BR', 'pt'],
    ['deu', 'de'],
    ['eng', 'en'],
    ['German', 'de'],
    ['english', 'en'],
    ['Deutsch', 'de'],
    ['français', 'fr'],
    ['Español', 'es'],
    ['中文', 'zh'],
    ['mandarin', 'zh'],
    ['cantonese', 'yue'],
    ['flemish', 'nl'],
    ['haitian creole', 'ht'],
    ['haitian', 'ht'],
    ['burmese', 'my'],
    ['nb-NO', 'no'],
    ['fil', 'tl'],
    ['javanese', 'jw'],
    ['iw', 'he'],
  ])('%s is %s', (requested, code) => expect(languageCode(requested, WHISPER)).toBe(code));

  test.each(['', ' ', 'auto', 'AUTO', 'detect', 'und', 'unknown'])('%j finds out', (requested) => {
    expect(languageCode(requested, WHISPER)).toBeNull();
  });

  test('the own word of a model for finding out is passed to it', () => {
    expect(languageCode('Auto', ['auto', 'zh', 'en'])).toBe('auto');
  });

  test.each(['xx', 'klingon', 'it', 'e', '-', 'en glish', '\u0000', 'x'.repeat(10_000)])(
    '%j is no language of the model',
    (requested) => expect(languageCode(requested, WHISPER)).toBeUndefined(),
  );
});
