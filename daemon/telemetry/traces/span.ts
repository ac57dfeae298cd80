/** Kinds of spans with their OTLP numbers. */
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;

export type AttributeValue = string | number | boolean;

/** One span. Times are Unix milliseconds with fractions. Attributes never contain message content. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: (typeof SPAN_KIND)[keyof typeof SPAN_KIND];
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue | null>>;
  readonly failed: boolean;
}
