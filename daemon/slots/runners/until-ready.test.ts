import { expect, it } from 'vitest';
import { nextPause, probeVerdict, waitUntilReady } from './until-ready.ts';

const probe = { path: '/health', loading: [503, 429], contains: '"ok"' };

it.each([
  [200, '{"status":"ok"}', 'ready'],
  [204, '"ok"', 'ready'],
  [200, '{"status":"x"}', 'wrong'],
  [503, '', 'loading'],
  [429, '', 'loading'],
  [401, '"ok"', 'wrong'],
  [302, '"ok"', 'wrong'],
  [500, '"ok"', 'wrong'],
])('%i %s is %s', (status, body, verdict) => expect(probeVerdict(probe, { status, body })).toBe(verdict));

it('probes at growing intervals, at least once a second', () => {
  const pauses = [nextPause(0)];
  while (pauses.length < 10) pauses.push(nextPause(pauses.at(-1) as number));
  expect(pauses).toEqual([100, 150, 225, 338, 507, 761, 1000, 1000, 1000, 1000]);
});

const options = (answers: (() => Promise<{ status: number; body: string }>)[], signal: AbortSignal) => ({
  query: () => (answers.shift() as () => Promise<{ status: number; body: string }>)(),
  endpoint: { origin: 'http://127.0.0.1:1', headers: {} },
  probe: { path: '/health', loading: [503] },
  signal,
});
const responding = (status: number) => async () => ({ status, body: '' });
const fails = (error: object) => () => Promise.reject(Object.assign(new Error('x'), error));

it('waits while there is no response or the engine is loading', async () => {
  const { signal } = new AbortController();
  await waitUntilReady(options([fails({ code: 'ECONNREFUSED' }), responding(503), responding(200)], signal));
});

it('an address that is never connected to ends the wait with its reason', async () => {
  const { signal } = new AbortController();
  const outcome = waitUntilReady(options([fails({ code: 'ERR_UNREACHABLE_ADDRESS' })], signal));
  await expect(outcome).rejects.toThrow('leads to a place that is never connected to');
});

it('an abort ends the wait with its reason', async () => {
  const control = new AbortController();
  const outcome = waitUntilReady({ ...options([], control.signal), canProbe: () => false });
  control.abort(new Error('enough'));
  await expect(outcome).rejects.toThrow('enough');
});
