import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTraceparent, newSpanId, newTraceId, parseTraceparent } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test.each<[string, string | string[] | undefined, boolean | null]>([
  ['a sampled trace', `00-${TRACE}-${SPAN}-01`, true],
  ['an unsampled trace', `00-${TRACE}-${SPAN}-00`, false],
  ['further flags', `00-${TRACE}-${SPAN}-03`, true],
  ['a later version with more behind it', `01-${TRACE}-${SPAN}-01-what-comes`, true],
  ['version 00 with more behind it', `00-${TRACE}-${SPAN}-01-x`, null],
  ['the invalid version', `ff-${TRACE}-${SPAN}-01`, null],
  ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`, null],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`, null],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, null],
  ['too short', `00-${TRACE.slice(1)}-${SPAN}-01`, null],
  ['two headers in one', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`, null],
  ['two headers', [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`], null],
  ['nothing', undefined, null],
  ['an empty one', '', null],
])('%s', (_, header, sampled) => {
  const expected = sampled === null ? null : { traceId: TRACE, spanId: SPAN, sampled };
  expect(parseTraceparent(header)).toEqual(expected);
});

test('a formatted header parses again', () => {
  for (const sampled of [true, false]) {
    const context = { traceId: newTraceId(), spanId: newSpanId(), sampled };
    expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
  }
});

test('never throws', () => {
  fc.assert(fc.property(fc.string({ maxLength: 600 }), (text) => parseTraceparent(text) === null));
});
