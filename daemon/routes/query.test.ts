import { describe, expect, it } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { Query } from './query.ts';

const query = (text: string) => new Query({ querystring: text });
const refusal = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    if (error instanceof GatewayError) return [error.code, error.options.details?.fields];
    throw error;
  }
  throw new Error('it was accepted');
};
const range = { min: 1, max: 100, absent: 20 };

describe('Query', () => {
  it('parses each kind, and absent values', () => {
    const read = query('limit=7&state=done&follow=0&model=org%2Fname');
    expect(read.whole('limit', range)).toBe(7);
    expect(read.word('state', ['running', 'done'])).toBe('done');
    expect(read.flag('follow', true)).toBe(false);
    expect(read.text('model')).toBe('org/name');
    const empty = query('model=');
    expect([empty.whole('limit', range), empty.word('state', ['a']), empty.flag('x', true)]).toEqual([
      20,
      null,
      true,
    ]);
    expect(empty.text('model')).toBeNull();
  });

  it.each([
    ['limit=0', 'must be a whole number from 1 to 100'],
    ['limit=101', 'must be a whole number from 1 to 100'],
    ['limit=-1', 'must be a whole number from 1 to 100'],
    ['limit=1e1', 'must be a whole number from 1 to 100'],
    ['limit=', 'must be a whole number from 1 to 100'],
  ])('%s is refused without its value', (text, reason) =>
    expect(refusal(() => query(text).whole('limit', range))).toEqual([
      'request.invalid',
      [{ path: 'limit', reason }],
    ]),
  );

  it('refuses other words and long texts', () => {
    expect(refusal(() => query('state=x').word('state', ['a', 'b']))).toEqual([
      'request.invalid',
      [{ path: 'state', reason: 'must be one of a, b' }],
    ]);
    expect(refusal(() => query(`m=${'x'.repeat(1025)}`).text('m'))).toMatchObject(['request.invalid', [{}]]);
  });
});
