import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** Request headers of the caller that an engine may see. Nothing else passes: no credential, cookie, origin, address or `X-svc-*`. */
const TO_ENGINE = ['accept', 'content-type'] as const;

/** Response headers of an engine that the caller may see. */
const TO_CALLER = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-disposition',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'openai-processing-ms',
] as const;

/** Names that a `Connection` header makes hop-by-hop (RFC 9110 section 7.6.1). */
function hopNames(connection: string | string[] | undefined): readonly string[] {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return [];
  return String(connection)
    .split(',')
    .map((name) => name.trim().toLowerCase());
}

export interface EngineHeaderOptions {
  readonly incoming: IncomingHttpHeaders;
  /** Replaces the content type of the caller; for bodies that have been read as JSON. */
  readonly contentType?: string;
  /** The credential of the gateway for this engine. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** Our own place in a trace, where the engine is to hear of it; never the header of the caller. */
  readonly traceparent?: string | null;
}

/** The headers towards an engine, names and values in turn. `accept-encoding` is identity: bytes are looked at in passing. */
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

/** What of an engine's response headers goes on to the caller. */
export function callerHeaders(engine: IncomingHttpHeaders): OutgoingHttpHeaders {
  const out: Record<string, string | string[]> = {};
  const hop = hopNames(engine.connection);
  for (const name of TO_CALLER) {
    const value = engine[name];
    if (value !== undefined && !hop.includes(name)) out[name] = value;
  }
  return out;
}

/** A text that is safe as a header value: printable ASCII, anything else a question mark, at most 200 characters. */
export function headerText(text: string): string {
  return isHeaderText(text) ? text : text.slice(0, 200).replace(/[^\x20-\x7e]/g, '?');
}

/** Whether it may stay as it is; nearly every text may, and a loop tells sooner than a replacement that replaces nothing. */
function isHeaderText(text: string): boolean {
  if (text.length > 200) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}
