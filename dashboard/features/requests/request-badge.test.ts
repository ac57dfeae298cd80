import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../daemon/contract/system.ts';
import { errorAdvice, errorWords, matches, requestBadge, timesOf } from './request-badge.ts';

const request = (over: Partial<RequestRecord> = {}): RequestRecord => ({
  id: '01a1',
  at: '2026-01-01T00:00:00.000Z',
  route: '/v1/chat/completions',
  asked: 'agent',
  model: 'tiny',
  slot: 'agent',
  upstream: null,
  step: 'loaded-slot',
  tier: 'client',
  state: 'done',
  status: 200,
  duration_ms: 1200,
  ttft_ms: 200,
  prompt_tokens: 5,
  completion_tokens: 11,
  error: null,
  message: null,
  reason: null,
  app: null,
  user_agent: null,
  address: 'loopback',
  ...over,
});

describe('requestBadge', () => {
  it.each([
    [{ state: 'running', status: null } as const, 'busy', 'Running'],
    [{ status: 200 }, 'ok', 'Done, 200'],
    [{ status: 404 }, 'attention', 'Refused, 404'],
    [{ status: 503 }, 'failed', 'Failed, 503'],
    [{ status: 499 }, 'idle', 'Client disconnected'],
    [{ status: null }, 'idle', 'Interrupted'],
    [{ status: 200, error: 'engine.failed' }, 'failed', 'Interrupted, 200'],
  ])('%j', (over, tone, word) => expect(requestBadge(request(over))).toEqual({ tone, word }));
});

it('errorWords uses the catalogue, and returns unknown codes unchanged', () => {
  expect(errorWords('slot.not_found')).toMatch(/\(slot\.not_found\)$/);
  expect(errorWords('odd')).toBe('odd');
  expect([errorWords('constructor'), errorAdvice('toString')]).toEqual(['constructor', null]);
});

it.each([
  ['slot.failed', 'Fix the cause, then load the slot again (svcctl slots load NAME).'],
  ['slot.no_memory', 'Unload another slot, or choose a smaller model or context.'],
  ['dispatch.no_route', null],
  ['odd', null],
])('advice after %s omits references to details', (code, advice) => expect(errorAdvice(code)).toBe(advice));

describe('timesOf', () => {
  it('splits the time at the first token', () => {
    expect(timesOf(request())).toEqual({ total: 1200, first: 200, rest: 1000, rate: 10 });
  });

  it('an error has no first token', () => {
    const refused = { total: 3, first: null, rest: null, rate: null };
    expect(timesOf(request({ status: 404, duration_ms: 3, ttft_ms: 3 }))).toEqual(refused);
  });

  it('returns null for unknown times', () => {
    expect(timesOf(request({ ttft_ms: null }))).toEqual({ total: 1200, first: null, rest: null, rate: null });
    expect(timesOf(request({ duration_ms: 201 })).rate).toBeNull();
    expect(timesOf(request({ completion_tokens: 1 })).rate).toBeNull();
  });
});

describe('matches', () => {
  it('finds every word anywhere', () => {
    expect(matches(request(), { q: 'chat AGENT', only: '' })).toBe(true);
    expect(matches(request(), { q: 'chat embed', only: '' })).toBe(false);
    expect(matches(request(), { q: '', only: '' })).toBe(true);
  });

  it('filters running and failed requests', () => {
    expect(matches(request(), { q: '', only: 'running' })).toBe(false);
    expect(matches(request(), { q: '', only: 'failed' })).toBe(false);
    expect(matches(request({ status: 503 }), { q: '503', only: 'failed' })).toBe(true);
    expect(matches(request({ status: 404 }), { q: '', only: 'failed' })).toBe(false);
    expect(matches(request({ status: 404 }), { q: '', only: 'refused' })).toBe(true);
    expect(matches(request({ status: 499 }), { q: '', only: 'failed' })).toBe(false);
    expect(matches(request(), { q: '', only: 'nonsense' })).toBe(true);
  });
});
