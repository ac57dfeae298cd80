import { expect, test } from 'vitest';
import { hintOf } from './hints.ts';

test.each([
  ['nothing', undefined, ''],
  ['how long to wait', { retry_after_s: 7 }, ' Try again in 7 s.'],
  ['why', { reason: 'It ended.' }, ' It ended.'],
  ['no reason twice', { reason: 'A model.' }, ''],
  ['slots that use it', { slots: ['a', 'b'] }, ' Slots: a, b.'],
  ['near names', { suggestions: ['agent', 'agent2'] }, ' Did you mean agent, agent2?'],
  ['no near name', { suggestions: [] }, ''],
  [
    'each field',
    {
      fields: [
        { path: 'a', reason: 'is wrong' },
        { path: '', reason: 'must be an object' },
      ],
    },
    ' a is wrong; must be an object.',
  ],
])('the details show %s', (_, details, told) => {
  expect(hintOf('A model.', details)).toBe(told);
});
