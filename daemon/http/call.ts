import type { IncomingMessage } from 'node:http';
import type { AuthRequest } from '../auth/auth.ts';
import type { ErrorDialect } from '../contract/errors.ts';
import { splitTarget } from '../lib/net/request-target.ts';

/** Returns the request in the form that `auth` checks. */
export function authRequest(req: IncomingMessage, upgrade: boolean): AuthRequest {
  return {
    method: req.method ?? 'GET',
    url: req.url ?? '/',
    rawHeaders: req.rawHeaders,
    headers: req.headers,
    peer: req.socket.remoteAddress ?? '',
    upgrade,
  };
}

/** Paths of each API, also under the wrong base URLs that the route table knows. */
const DIALECTS: readonly (readonly [RegExp, ErrorDialect])[] = [
  [/^(?:\/v1)*\/+messages(?:\/|$)/i, 'anthropic'],
  [/^\/v1(?:\/|$)/i, 'openai'],
  [/^\/(?:openai|chat|audio|images|models)\//i, 'openai'],
  [/^\/(?:responses|completions|embeddings|rerank|score|models)$/i, 'openai'],
  [/^\/api\/(?:tags|version|ps|chat|generate|show|embed|embeddings|pull|push|create|copy|delete)$/, 'ollama'],
];

/** Returns the error envelope of a path: that of the API whose clients use it, the plain one elsewhere. */
export function dialectOf(url: string): ErrorDialect {
  const path = splitTarget(url)?.path ?? '';
  return DIALECTS.find(([pattern]) => pattern.test(path))?.[1] ?? 'api';
}
