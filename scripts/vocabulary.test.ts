import { expect, test } from 'vitest';
import { vocabularyFindings, wordsOf } from './vocabulary.ts';

const findings = (text: string) => vocabularyFindings([{ path: 'a.ts', text }]);

test.each([
  ['const MOST_BYTES = 1;', 'a.ts:1: "MOST_BYTES": write MAX_… or MIN_…, with the unit'],
  ['\n// It waits for ever.', 'a.ts:2: "for ever": write forever, or the limit'],
  ['letGoWhole(body);', 'a.ts:1: "letGoWhole": write release, detach or shutDown'],
])('%j is reported with its line and the term to write', (text, finding) => {
  expect(findings(text)).toEqual([finding]);
});

test.each([
  ['const turnstile = 1;', 'a.ts:1: "turnstile": write semaphore'],
  ['const anewTurnstile = 1;', 'a.ts:1: "anewTurnstile": write again'],
])('%j is reported by a word of its name', (text, finding) => {
  expect(findings(text)).toContain(finding);
});

test('the words of a file name count', () => {
  expect(vocabularyFindings([{ path: 'daemon/app-mishap.ts', text: '' }])).toEqual([
    'daemon/app-mishap.ts:0: "app-mishap.ts": write error, error boundary',
  ]);
});

test('names count in code only, not in comments, texts and patterns', () => {
  expect(findings("// a turnstile\nconst a = 'turnstile';\nconst b = /turnstile/;")).toEqual([]);
});

test('names of the API are allowed, some of them in a few folders only', () => {
  const at = (path: string, text: string) => vocabularyFindings([{ path, text }]);
  expect(at('a.ts', 'row.last_seen;')).toEqual([]);
  expect(at('daemon/store/a.ts', 'row.asked;')).toEqual([]);
  expect(at('a.ts', 'row.asked;')).toHaveLength(1);
});

test.each([
  ['toldEvents', ['told', 'events']],
  ['HTTPServer_v2', ['http', 'server', 'v']],
  ['memory-room.ts', ['memory', 'room', 'ts']],
])('the words of %j are %j', (identifier, words) => expect(wordsOf(identifier)).toEqual(words));

test.each(['const UTMOST_BYTES = 1;', 'for every request', 'impatience', 'x-letGo-y'])(
  '%j is not a whole word of the list',
  (text) => expect(findings(text)).toEqual([]),
);
