import type { ServerResponse } from 'node:http';
import type { RouteKind } from '../contract/routes.ts';

/** CSP of everything that is no page. */
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

/** Methods that some route takes; one constant list, so that OPTIONS is no route oracle. */
export const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Request headers that a listed origin may send. */
const CORS_HEADERS = 'authorization, content-type, x-svc-model-filter, x-svc-priority';

/** The headers of every answer. */
export function baseHeaders(res: ServerResponse, requestId: string): void {
  res.setHeader('x-request-id', requestId);
  res.setHeader('x-content-type-options', 'nosniff');
  res.setHeader('referrer-policy', 'no-referrer');
  res.setHeader('cross-origin-resource-policy', 'same-origin');
}

/** The headers that depend on what kind of answer it is; `inference` answers get none beyond the base. */
export function kindHeaders(res: ServerResponse, kind: RouteKind): void {
  if (kind === 'inference') return;
  res.setHeader('cross-origin-opener-policy', 'same-origin');
  res.setHeader('content-security-policy', kind === 'shell' ? PAGE_CSP : JSON_CSP);
  if (kind !== 'shell') res.setHeader('cache-control', 'no-store');
}

/** CORS for a listed origin: the exact value, no credentials, never `*` (contract "CORS"). */
export function corsHeaders(res: ServerResponse, origin: string, preflight: boolean): void {
  res.setHeader('access-control-allow-origin', origin);
  res.setHeader('vary', 'Origin');
  res.setHeader(
    'access-control-expose-headers',
    'x-request-id, x-svc-slot, x-svc-model, x-svc-step, retry-after',
  );
  if (!preflight) return;
  res.setHeader('access-control-allow-methods', ALL_METHODS);
  res.setHeader('access-control-allow-headers', CORS_HEADERS);
  res.setHeader('access-control-max-age', '600');
}
