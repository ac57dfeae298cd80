import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { RATE_LIMIT_HEADERS } from '../../contract/headers.ts';
import { truncate } from '../../lib/text/truncate.ts';

/**
 * Request headers that are forwarded to an engine. No credential, cookie, origin, address or `X-svc-*` header
 * passes.
 */
const TO_ENGINE = ['accept', 'content-type'] as const;

/** Response headers of an engine that are forwarded to the caller. */
const TO_CALLER = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'openai-processing-ms',
  ...RATE_LIMIT_HEADERS,
] as const;

/** Returns the names that a `Connection` header makes hop-by-hop (RFC 9110 section 7.6.1). */
function hopNames(connection: string | string[] | undefined): readonly string[] {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return [];
  return String(connection)
    .split(',')
    .map((name) => name.trim().toLowerCase());
}

export interface EngineHeaderOptions {
  readonly incoming: IncomingHttpHeaders;
  /** Replaces the content type of the caller, for bodies that were parsed as JSON. */
  readonly contentType?: string;
  /** The credential of the gateway for this engine. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** Our own trace context, where the engine may receive it. Never the header of the caller. */
  readonly traceparent?: string | null;
}

/**
 * Returns the headers for an engine, names and values alternating. Requests identity encoding because the
 * bytes are inspected.
 */
export function engineHeaders({
  incoming,
  contentType,
  ownHeaders,
  requestId,
  traceparent,
}: EngineHeaderOptions): string[] {
  const out = ['accept-encoding', 'identity', 'x-request-id', requestId];
  if (traceparent) out.push('traceparent', traceparent);
  const hop = hopNames(incoming.connection);
  for (const name of TO_ENGINE) {
    const value = name === 'content-type' ? (contentType ?? incoming[name]) : incoming[name];
    if (value !== undefined && !hop.includes(name)) out.push(name, value);
  }
  for (const name in ownHeaders) out.push(name, ownHeaders[name] as string);
  return out;
}

/** Returns the response headers of an engine that are forwarded to the caller. */
export function callerHeaders(engine: IncomingHttpHeaders): OutgoingHttpHeaders {
  const out: Record<string, string | string[]> = {};
  const hop = hopNames(engine.connection);
  for (const name of TO_CALLER) {
    const value = engine[name];
    if (value !== undefined && !hop.includes(name)) out[name] = value;
  }
  return out;
}

/**
 * Makes a text safe as a header value: printable ASCII, question marks for anything else, at most 200
 * characters.
 */
export function headerText(text: string): string {
  return isHeaderText(text) ? text : text.slice(0, 200).replace(/[^\x20-\x7e]/g, '?');
}

/** Marks a value with encoded characters (RFC 8187). */
const ENCODED = "UTF-8''";

/** Returns a name as a header value from which `decodeName` reads it again, whatever its script. */
export const encodeName = (name: string): string =>
  isHeaderText(name) ? name : `${ENCODED}${encodeURIComponent(truncate(name.toWellFormed(), 200))}`;

/** Returns the name in a header value that `encodeName` made. */
export function decodeName(value: string): string {
  if (!value.startsWith(ENCODED)) return value;
  try {
    return decodeURIComponent(value.slice(ENCODED.length));
  } catch {
    return value;
  }
}

/**
 * Returns whether a text is safe unchanged. A loop is faster than a replacement without a match, which is the
 * usual case.
 */
function isHeaderText(text: string): boolean {
  if (text.length > 200) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}
