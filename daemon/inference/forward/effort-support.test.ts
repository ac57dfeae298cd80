import { expect, test } from 'vitest';
import { type EffortFallback, EffortSupport } from './effort-support.ts';

const REQUEST = { upstream: 'cloud', model: 'm', effort: 'high', tools: true };
const failure = (body: unknown, status = 400) => ({
  status,
  bytes: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  truncated: false,
});
const recorded = (body: unknown, status?: number, request = REQUEST) => {
  const efforts = new EffortSupport();
  return [efforts.recordFailure(request, undefined, failure(body, status)), efforts.fallbackFor(request)];
};
const OPENAI = "To use function tools, use /v1/responses or set reasoning_effort to 'none'.";

test.each([
  [{ error: { message: OPENAI } }, 400, 'none'],
  [{ error: { message: 'Unsupported.', param: 'reasoning_effort' } }, 400, 'left out'],
  [{ error: { message: '`reasoning_effort` must be one of `none` or `default`' } }, 400, 'left out'],
  [{ error: 'no reasoning_effort here' }, 400, 'left out'],
  [{ message: 'no reasoning_effort here' }, 422, 'left out'],
  [{ detail: 'no reasoning_effort here' }, 422, 'left out'],
  [
    { detail: [{ loc: ['body', 'reasoning_effort'], msg: 'Extra inputs are not permitted' }] },
    422,
    'left out',
  ],
])('%j with %i: %s', (body, status, expected) =>
  expect(recorded(body, status)).toEqual([expected, expected]),
);

test.each([
  ['reasoning_effort', 400],
  [{ error: { message: 'too long' } }, 400],
  [{ error: { message: 'too long', input: { reasoning_effort: 'high' } } }, 400],
  [{ detail: [{ loc: ['body', 'tools'], msg: 'bad', input: { reasoning_effort: 'high' } }] }, 422],
  [{ error: { message: OPENAI } }, 500],
  [{ error: { message: OPENAI } }, 429],
])('%j with %i does not show that an effort is refused', (body, status) =>
  expect(recorded(body, status)).toEqual([undefined, undefined]),
);

test('a request for none is sent without an effort', () =>
  expect(recorded({ error: { message: OPENAI } }, 400, { ...REQUEST, effort: 'none' })).toEqual([
    'left out',
    'left out',
  ]));

test('it applies to that model, effort and tools only', () => {
  const efforts = new EffortSupport();
  efforts.recordFailure(REQUEST, undefined, failure({ error: { message: OPENAI } }));
  for (const other of [{ upstream: 'x' }, { model: 'x' }, { effort: 'low' }, { tools: false }])
    expect(efforts.fallbackFor({ ...REQUEST, ...other })).toBeUndefined();
});

test('concurrent requests find the same fallback; a refused fallback is removed', () => {
  const efforts = new EffortSupport();
  const refusal = failure({ error: { message: OPENAI } });
  const refused = (expected?: EffortFallback) => efforts.recordFailure(REQUEST, expected, refusal);
  expect([refused(), refused()]).toEqual(['none', 'none']);
  expect([refused('none'), efforts.fallbackFor(REQUEST)]).toEqual([undefined, undefined]);
});

test('the number of entries is bounded', () => {
  const efforts = new EffortSupport();
  const refusal = failure({ error: { message: OPENAI } });
  for (let n = 0; n <= 1_024; n++)
    efforts.recordFailure({ ...REQUEST, model: String(n) }, undefined, refusal);
  const expected = ['0', '1', '1024'].map((model) => efforts.fallbackFor({ ...REQUEST, model }));
  expect(expected).toEqual([undefined, 'none', 'none']);
});
