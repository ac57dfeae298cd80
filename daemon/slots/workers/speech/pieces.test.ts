import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_PIECE_CHARS, pieces } from './pieces.ts';

describe('pieces', () => {
  test.each([
    [
      'Good morning to you. How are you today? Fine!',
      ['Good morning to you. ', 'How are you today? ', 'Fine!'],
    ],
    ['Yes. No. Perhaps it is so.', ['Yes. No. Perhaps it is so.']],
    ['', []],
    [
      '今日は良い天気ですね、本当に。明日も晴れるといいのですが。',
      ['今日は良い天気ですね、本当に。', '明日も晴れるといいのですが。'],
    ],
  ])('%j', (text, expected) => expect([...pieces(text)]).toEqual(expected));

  test('concatenated they are the text, none too long, no character split', () => {
    const unit = fc.constantFrom('a', 'B', ' ', '. ', ', ', '\n', '!', '😀', '。', 'word ', '7');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 600 }), (text) => {
        const all = [...pieces(text)];
        expect(all.join('')).toBe(text);
        for (const piece of all) {
          expect(piece.length).toBeLessThanOrEqual(MAX_PIECE_CHARS);
          expect(piece.length).toBeGreaterThan(0);
          expect(piece.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  test('the first piece of a long text is available before the rest', () => {
    const first = pieces('One short sentence here. '.repeat(50_000)).next();
    expect(first.value).toBe('One short sentence here. ');
  });
});
