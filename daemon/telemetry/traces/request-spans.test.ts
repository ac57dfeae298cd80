import { expect, test } from 'vitest';
import { type LoadTime, requestSpans, type TracedRequest } from './request-spans.ts';

const context = {
  own: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true },
  parentSpanId: 'c'.repeat(16),
  callSpanId: 'd'.repeat(16),
};
const request: TracedRequest = {
  id: 'r1',
  route: '/v1/chat/completions',
  tier: 'client',
  slot: 'agent',
  upstream: null,
  step: 'loaded-slot',
  model: 'm',
  status: 200,
  error: null,
  promptTokens: 3,
  completionTokens: 5,
  receivedMs: 1_000,
  routedMs: 1_010,
  leasedMs: 1_500,
  sentMs: 1_510,
  firstByteMs: 1_700,
  endedMs: 2_000,
};

/** Returns `name parent start-end` of each span, its parent by name. */
function spansOf(change: Partial<TracedRequest> = {}, load: LoadTime | null = null): string[] {
  const spans = requestSpans({ ...request, ...change }, context, load);
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  expect(names.size).toBe(spans.length);
  return spans.map(
    ({ name, parentSpanId, startMs, endMs }) =>
      `${name} < ${names.get(parentSpanId) ?? parentSpanId} ${startMs}-${endMs}`,
  );
}

const ROOT = `POST /v1/chat/completions < ${'c'.repeat(16)} 1000-2000`;
const CALL = [
  'call < POST /v1/chat/completions 1510-2000',
  'prefill < call 1510-1700',
  'stream < call 1700-2000',
];

test('a request has its stages as child spans', () => {
  expect(spansOf()).toEqual([ROOT, 'wait < POST /v1/chat/completions 1010-1500', ...CALL]);
});

test.each<[string, LoadTime, string[]]>([
  ['a load within the wait', { from: 1_020, to: 1_400 }, ['load < wait 1020-1400']],
  ['a load that started before the request', { from: 500, to: 1_400 }, ['load < wait 1010-1400']],
  ['a load that ends after the wait', { from: 1_300, to: 9_000 }, ['load < wait 1300-1500']],
  ['a load outside the request', { from: 100, to: 900 }, []],
])('%s', (_, load, lines) => {
  expect(spansOf({}, load)).toEqual([ROOT, 'wait < POST /v1/chat/completions 1010-1500', ...lines, ...CALL]);
});

test('a slot that serves immediately has no wait span, nor has an upstream', () => {
  expect(spansOf({ leasedMs: 1_010.4 })).toEqual([ROOT, ...CALL]);
  expect(spansOf({ slot: null, upstream: 'desk', leasedMs: null })).toEqual([ROOT, ...CALL]);
});

test('a request that ends early has the stages that it reached', () => {
  const early = { leasedMs: null, sentMs: null, firstByteMs: null };
  expect(spansOf(early)).toEqual([ROOT, 'wait < POST /v1/chat/completions 1010-2000']);
  expect(spansOf({ ...early, slot: null, routedMs: null })).toEqual([ROOT]);
  expect(spansOf({ firstByteMs: null }).at(-1)).toBe('prefill < call 1510-2000');
});

test.each<[Partial<TracedRequest>, boolean]>([
  [{}, false],
  [{ status: 404, error: 'model.not_found' }, false],
  [{ status: 499, error: 'client_closed' }, false],
  [{ status: 503, error: 'slot.failed' }, true],
  [{ status: 200, error: 'slot.crashed' }, true],
])('%j failed: %s', (change, failed) => {
  expect(requestSpans({ ...request, ...change }, context, null)[0]?.failed).toBe(failed);
});

test('the model of a refused request is free text and is left out', () => {
  const attributes = (status: number) => requestSpans({ ...request, status }, context, null)[0]?.attributes;
  expect(attributes(200)?.['gen_ai.response.model']).toBe('m');
  expect(attributes(404)?.['gen_ai.response.model']).toBeNull();
});
