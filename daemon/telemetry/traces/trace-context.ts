import { randomBytes } from 'node:crypto';

/** The position of a span in a trace (W3C Trace Context, level 1). Ids are lower-case hexadecimal. */
export interface TraceContext {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
const SAMPLED = 1;

/** Parses a `traceparent` header; null for an invalid one or several headers. */
export function parseTraceparent(header: string | string[] | undefined): TraceContext | null {
  if (typeof header !== 'string' || header.length > 512) return null;
  const match = TRACEPARENT.exec(header.trim());
  if (match === null) return null;
  const [, version, traceId, spanId, flags, more] = match as unknown as string[];
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (ZEROS.test(traceId as string) || ZEROS.test(spanId as string)) return null;
  const sampled = (Number.parseInt(flags as string, 16) & SAMPLED) !== 0;
  return { traceId: traceId as string, spanId: spanId as string, sampled };
}

export const formatTraceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

export const newTraceId = (): string => randomBytes(16).toString('hex');
export const newSpanId = (): string => randomBytes(8).toString('hex');
