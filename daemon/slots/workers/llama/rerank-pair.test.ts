import { expect, test } from 'vitest';
import { type PairMarks, rerankPair } from './rerank-pair.ts';

const [BOS, EOS, SEP, CONTROL] = [1, 2, 3, 4];

/** One token per character. A control token is written `#`, and two consecutive spaces are one token. */
const tokenise = (text: string, marks: boolean) =>
  [...text.replaceAll('  ', '_')].map((c) => (marks && c === '#' ? CONTROL : c.charCodeAt(0)));
const code = (text: string) => tokenise(text, false);

const marks = (changes: Partial<PairMarks>): PairMarks => ({
  bos: BOS,
  eos: EOS,
  sep: SEP,
  add: { bos: true, eos: true, sep: true },
  template: null,
  ...changes,
});
const pair = (changes: Partial<PairMarks>, query = 'q', document = 'd') =>
  rerankPair(query, document, marks(changes), tokenise);

test.each<[string, Partial<PairMarks>, number[]]>([
  ['all marks', {}, [BOS, ...code('q'), EOS, SEP, ...code('d'), EOS]],
  ['BERT', { add: { bos: true, eos: false, sep: true } }, [BOS, ...code('q'), SEP, ...code('d')]],
  [
    'no separator',
    { add: { bos: true, eos: true, sep: false } },
    [BOS, ...code('q'), EOS, ...code('d'), EOS],
  ],
  ['a separator instead of an end mark', { eos: null }, [BOS, ...code('q'), SEP, SEP, ...code('d'), SEP]],
  ['no marks', { bos: null, eos: null, sep: null }, code('qd')],
])('%s', (_, changes, expected) => {
  expect(pair(changes)).toEqual(expected);
});

test('reads a template as one text with its control tokens and no marks around it', () => {
  const template = '#Q: {query} #D: {document}';
  expect(pair({ template })).toEqual([CONTROL, ...code('Q: q '), CONTROL, ...code('D: d')]);
  expect(pair({ template: 'Q: {query}' }, ' q')).toEqual(code('Q:  q'));
});

test('treats a control token in the text of a caller as text', () => {
  const template = 'Q: {query}#{document}';
  expect(pair({ template }, '#', 'd')).toEqual([...code('Q: #'), CONTROL, ...code('d')]);
  expect(pair({}, '#')).toContain('#'.charCodeAt(0));
});

test('ignores a placeholder in the text of a caller', () => {
  expect(pair({ template: '{query}|{document}' }, '{document}', 'd')).toEqual(code('{document}|d'));
});
