import { expect, test } from 'vitest';
import { literal, RuleBook } from './rule-book.ts';

test('a literal preserves every character', () => {
  expect(literal('a"b\\c\n\u0001ü')).toBe('"a\\"b\\\\c\\n\\x01ü"');
});

test('writes only used rules, each once', () => {
  const book = new RuleBook();
  book.primitive('integer');
  book.primitive('integer');
  expect(book.grammar(book.add('integer integer'))).toBe(
    [
      'root ::= r1',
      'integer ::= "-"? whole',
      'whole ::= [0] | [1-9] [0-9]{0,15}',
      'r1 ::= integer integer',
    ].join('\n'),
  );
});
