import type { ServerResponse } from 'node:http';
import { RESPONSE_HEADERS } from '../contract/headers.ts';
import type { RouteKind } from '../contract/routes.ts';

/** CSP of responses that are not pages. */
const JSON_CSP = "default-src 'none'; frame-ancestors 'none'";

/** CSP of the dashboard: own origin only, no inline script or style. */
export const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Methods of all routes. A constant list, so that OPTIONS does not reveal routes. */
export const ALL_METHODS = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';

/**
 * Request headers that a listed origin may send: those that routes read, those that the browser clients of
 * OpenAI and Anthropic always send, and those by which apps name themselves. A constant list, as above.
 */
const CORS_HEADERS = [
  'authorization',
  'content-type',
  'x-api-key',
  'if-match',
  'last-event-id',
  'idempotency-key',
  'traceparent',
  'x-svc-model-filter',
  'x-svc-priority',
  'x-svc-allow-fallback',
  'user-agent',
  'http-referer',
  'x-title',
  'openai-organization',
  'openai-project',
  'openai-beta',
  'anthropic-version',
  'anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
  'x-stainless-lang',
  'x-stainless-package-version',
  'x-stainless-os',
  'x-stainless-arch',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-retry-count',
  'x-stainless-timeout',
  'x-stainless-async',
  'x-stainless-helper',
  'x-stainless-helper-method',
  'x-stainless-poll-helper',
  'x-stainless-custom-poll-interval',
].join(', ');

/** Response headers that a page of a listed origin may read, in addition to the safelisted ones. */
const CORS_EXPOSED = Object.entries(RESPONSE_HEADERS)
  .filter(([, { exposed }]) => exposed !== false)
  .map(([name]) => name)
  .join(', ');

const EVERY_ANSWER = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const NO_PAGE = {
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': JSON_CSP,
  'cache-control': 'no-store',
} as const;

const PAGE = {
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': PAGE_CSP,
} as const;

function setAll(res: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) res.setHeader(name, headers[name] as string);
}

/** Sets the headers of every response. */
export function baseHeaders(res: ServerResponse, requestId: string): void {
  res.setHeader('x-request-id', requestId);
  setAll(res, EVERY_ANSWER);
}

/** Sets the headers of every refusal, whatever its route. */
export const refusalHeaders = (res: ServerResponse): void => setAll(res, NO_PAGE);

/** Returns the headers of a refusal on a bare socket, where no response object exists. */
export const bareRefusalHeaders = (requestId: string): Record<string, string> => ({
  'x-request-id': requestId,
  ...EVERY_ANSWER,
  ...NO_PAGE,
  'content-type': 'application/json',
});

/** Sets the headers that depend on the kind of response. `inference` gets none beyond the base. */
export function kindHeaders(res: ServerResponse, kind: RouteKind): void {
  if (kind === 'inference') return;
  setAll(res, kind === 'shell' ? PAGE : NO_PAGE);
}

/** CORS for a listed Origin: the exact value, no credentials, never `*` (docs/spec/contract.md#cors). */
export function corsHeaders(res: ServerResponse, origin: string, preflight: boolean): void {
  res.setHeader('access-control-allow-origin', origin);
  res.setHeader('vary', 'Origin');
  res.setHeader('access-control-expose-headers', CORS_EXPOSED);
  if (!preflight) return;
  res.setHeader('access-control-allow-methods', ALL_METHODS);
  res.setHeader('access-control-allow-headers', CORS_HEADERS);
  res.setHeader('access-control-max-age', '600');
}
