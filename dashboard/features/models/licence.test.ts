import { expect, test } from 'vitest';
import { licenceWords } from './licence.ts';

test.each([
  ['apache-2.0', /any use, including commercial\.$/],
  ['sai-nc-community', /Not for commercial/],
  ['llama3.1', /Meta's own terms/],
  ['llama3.2', /Meta's own terms/],
  ['gemma', /Google's own terms/],
  ['mit', /any use/],
  ['openrail++', /some are forbidden/],
  ['cc-by-4.0', /with attribution/],
  ['something-new', /Read the licence/],
  [null, /lists no licence/],
  ['other', /lists no licence/],
])('%s', (licence, text) => expect(licenceWords(licence).text).toMatch(text));
