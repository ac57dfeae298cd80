import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExportRequest } from '../../test/harness/otlp-collector.ts';
import { exportRequest, rejectedSpans, unixNano } from './otlp-json.ts';
import { SPAN_KIND, type Span } from './span.ts';

const span: Span = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentSpanId: '',
  name: 'POST /v1/chat/completions',
  kind: SPAN_KIND.server,
  startMs: 1_795_302_690_123.25,
  endMs: 1_795_302_690_999.5,
  attributes: { text: 'x'.repeat(10_000), whole: 7, part: 0.5, yes: true, nothing: null },
  failed: true,
};
const resource = { serviceName: 'house', version: '1.2.3' };

test('has the shape of the protocol: ids, times as text, numbers by kind, no nulls, truncated texts', () => {
  const read = ExportRequest.parse(
    exportRequest([span, { ...span, parentSpanId: 'c'.repeat(16) }], resource),
  );
  const [{ resource: who, scopeSpans } = { resource: null, scopeSpans: [] }] = read.resourceSpans;
  expect(who?.attributes[0]).toEqual({ key: 'service.name', value: { stringValue: 'house' } });
  const [root, child] = scopeSpans[0]?.spans ?? [];
  expect(root).not.toHaveProperty('parentSpanId');
  expect(child?.parentSpanId).toBe('c'.repeat(16));
  expect(root).toMatchObject({
    startTimeUnixNano: '1795302690123250000',
    endTimeUnixNano: '1795302690999500000',
    status: { code: 2 },
  });
  expect(root?.attributes).toEqual([
    { key: 'text', value: { stringValue: 'x'.repeat(256) } },
    { key: 'whole', value: { intValue: '7' } },
    { key: 'part', value: { doubleValue: 0.5 } },
    { key: 'yes', value: { boolValue: true } },
  ]);
});

test('nanoseconds grow with milliseconds and are as exact as a number is', () => {
  const time = fc.double({ min: 1, max: 4e12, noNaN: true });
  fc.assert(
    fc.property(time, time, (a, b) => {
      const [one, two] = [BigInt(unixNano(a)), BigInt(unixNano(b))];
      return a <= b ? one <= two : one >= two;
    }),
  );
  expect(unixNano(999.999_999_9)).toBe('1000000000');
});

test.each([
  ['{"partialSuccess":{"rejectedSpans":"3","errorMessage":"full"}}', 3],
  ['{"partialSuccess":{"rejectedSpans":2}}', 2],
  ['{"partialSuccess":{}}', 0],
  ['{}', 0],
  ['', 0],
  ['null', 0],
  ['<html>', 0],
  ['{"partialSuccess":{"rejectedSpans":-1}}', 0],
])('rejected spans of %s', (body, count) => expect(rejectedSpans(body)).toBe(count));
