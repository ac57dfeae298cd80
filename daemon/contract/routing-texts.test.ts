import { expect, test } from 'vitest';
import { abandonedText, failoverText } from './routing-texts.ts';

const target = (upstream: string) => ({ slot: null, upstream, load: null, error: null });
const failover = ['connection_failed', 'busy', 'not_responding'] as (
  | 'connection_failed'
  | 'busy'
  | 'not_responding'
)[];

test('names the cases, the targets, and those that are not tried', () => {
  const skipped = [{ upstream: 'c', reason: 'Upstream c is down.' }];
  expect(failoverText({ upstream: 'a', after: [target('b')], failover, skipped })).toBe(
    'If it cannot be reached, answers 429 or 503, or stops responding before it answers: b. Any other failure goes to the caller. Not tried: c. Upstream c is down.',
  );
  expect(failoverText({ upstream: 'a', after: [], failover: [], skipped })).toBe(
    'Every failure goes to the caller: no other upstream is tried. Not tried: c. Upstream c is down.',
  );
  expect(failoverText({ upstream: null, after: [], failover: [], skipped: [] })).toBeNull();
});

test('says why a slot is busy with requests without a caller', () => {
  expect([undefined, 0].map(abandonedText)).toEqual([null, null]);
  expect(abandonedText(1)).toBe(
    'The engine is finishing a request whose caller has left, because it cannot stop. New requests wait until then.',
  );
  expect(abandonedText(2)).toContain('2 requests whose callers have left');
});
