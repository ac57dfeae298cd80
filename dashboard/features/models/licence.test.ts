import { expect, test } from 'vitest';
import { licenceWords } from './licence.ts';

test.each([
  ['apache-2.0', /every use, commercial use too\.$/],
  ['sai-nc-community', /Not for commercial/],
  ['llama3.1', /Meta's own terms/],
  ['llama3.2', /Meta's own terms/],
  ['gemma', /Google's own terms/],
  ['mit', /every use/],
  ['openrail++', /forbids some/],
  ['cc-by-4.0', /makers are named/],
  ['something-new', /Read its text/],
  [null, /does not tell/],
  ['other', /does not tell/],
])('%s', (licence, text) => expect(licenceWords(licence).text).toMatch(text));
