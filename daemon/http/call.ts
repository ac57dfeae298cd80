import type { IncomingMessage } from 'node:http';
import type { AuthRequest } from '../auth/auth.ts';
import type { ErrorDialect } from '../contract/errors.ts';

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

const ANTHROPIC = /^(https?:\/\/[^/]*)?\/v1\/messages(\/|$|\?)/i;
const OPENAI = /^(https?:\/\/[^/]*)?\/v1(\/|$|\?)/i;

/**
 * Returns the error envelope of a path: OpenAI's on `/v1`, Anthropic's on its routes there, the plain one
 * elsewhere.
 */
export function dialectOf(url: string): ErrorDialect {
  if (ANTHROPIC.test(url)) return 'anthropic';
  return OPENAI.test(url) ? 'openai' : 'api';
}
