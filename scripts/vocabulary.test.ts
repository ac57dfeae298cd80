import { expect, test } from 'vitest';
import { vocabularyFindings } from './vocabulary.ts';

const findings = (text: string) => vocabularyFindings([{ path: 'a.ts', text }]);

test.each([
  ['const MOST_BYTES = 1;', 'a.ts:1: "MOST_BYTES": write MAX_… or MIN_…, with the unit'],
  ['\n// It waits for ever.', 'a.ts:2: "for ever": write forever, or the limit'],
  ['letGoWhole(body);', 'a.ts:1: "letGoWhole": write release, detach or shutDown'],
])('%j is reported with its line and the term to write', (text, finding) => {
  expect(findings(text)).toEqual([finding]);
});

test.each(['const UTMOST_BYTES = 1;', 'for every request', 'impatience', 'x-goneOn-y'])(
  '%j is not a whole word of the list',
  (text) => expect(findings(text)).toEqual([]),
);
