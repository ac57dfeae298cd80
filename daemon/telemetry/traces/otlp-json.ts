import type { AttributeValue, Span } from './span.ts';

/** The sender of the spans. */
export interface Resource {
  readonly serviceName: string;
  readonly version: string;
}

const SCOPE = 'svc-gateway';
/** Status code of a span that failed. */
const STATUS_ERROR = 2;
const STATUS_UNSET = 0;
/** Maximum characters of one attribute. */
const MAX_ATTRIBUTE_LENGTH = 256;

/** Converts Unix milliseconds to nanoseconds as decimal text: JSON numbers are not precise enough. */
export function unixNano(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000)));
}

function anyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value.slice(0, MAX_ATTRIBUTE_LENGTH) };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

const attributesOf = (attributes: Span['attributes']): object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [{ key, value: anyValue(value) }],
  );

const spanOf = (span: Span): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId === '' ? {} : { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: span.kind,
  startTimeUnixNano: unixNano(span.startMs),
  endTimeUnixNano: unixNano(Math.max(span.startMs, span.endMs)),
  attributes: attributesOf(span.attributes),
  status: { code: span.failed ? STATUS_ERROR : STATUS_UNSET },
});

/** Returns the body of `POST /v1/traces`: an ExportTraceServiceRequest in the JSON encoding of OTLP 1. */
export function exportRequest(spans: readonly Span[], { serviceName, version }: Resource): object {
  const resource = { 'service.name': serviceName, 'service.version': version };
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: SCOPE, version }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

/**
 * Returns the number of spans that a collector rejected according to the body of a 200; 0 when the body does
 * not say.
 */
export function rejectedSpans(body: string): number {
  try {
    const { partialSuccess } = JSON.parse(body) as { partialSuccess?: { rejectedSpans?: number | string } };
    const count = Number(partialSuccess?.rejectedSpans ?? 0);
    return Number.isFinite(count) && count > 0 ? Math.trunc(count) : 0;
  } catch {
    return 0;
  }
}
