import { describe, expect, it } from 'vitest';
import { ERRORS } from '../contract/errors.ts';
import { adviceFor, hintOf } from './hints.ts';

it.each([
  ['nothing', undefined, ''],
  ['how long to wait', { retry_after_s: 7 }, ' Try again in 7 s.'],
  ['why', { reason: 'It ended.' }, ' It ended.'],
  ['no reason twice', { reason: 'A model.' }, ''],
  ['no reason twice, in another case', { reason: 'a Model.' }, ''],
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
])('the details show %s', (_, details, text) => {
  expect(hintOf('A model.', details)).toBe(text);
});

describe('adviceFor', () => {
  it.each([
    ['pull.gated', 'Accept its terms on the hub and set HF_TOKEN in api.env.'],
    ['slot.not_found', 'Choose a name from svcctl slots.'],
    ['pull.unknown', 'See svcctl models pulls.'],
    ['model.not_found', 'Choose an id from svcctl models.'],
    ['request.invalid', null],
    ['auth.required', null],
    ['auth.rate_limited', null],
    ['no.such_code', null],
    ['constructor', null],
  ])('of %s is %s', (code, advice) => expect(adviceFor(code)).toBe(advice));

  it.each(Object.keys(ERRORS))('of %s names no route of the API', (code) => {
    expect(adviceFor(code) ?? '').not.toMatch(/(GET|POST|PUT|DELETE) \//);
  });
});
