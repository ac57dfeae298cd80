import type { IncomingMessage } from 'node:http';
import type { AuthRequest } from '../auth/auth.ts';

/** Builds the picture of a request that `auth` judges. */
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

/** Which envelope a path is answered with: OpenAI's on `/v1`, the bare one elsewhere. */
export const dialectOf = (url: string): 'api' | 'openai' =>
  /^(https?:\/\/[^/]*)?\/v1(\/|$|\?)/i.test(url) ? 'openai' : 'api';
