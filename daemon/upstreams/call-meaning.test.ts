import { describe, expect, it } from 'vitest';
import { type CallEnd, meaningOf } from './call-meaning.ts';
import { FAILURES } from './circuit-breaker.ts';

const REFUSED = { failed: { code: 'ECONNREFUSED' } };
const RESET = { failed: { code: 'ECONNRESET' } };
const SILENT = { failed: { code: 'UND_ERR_HEADERS_TIMEOUT' } };

const scopeOf = (end: CallEnd, hasStatus: boolean): string | null => {
  const meaning = meaningOf(end, hasStatus);
  if (meaning.is !== 'failed') return meaning.is;
  const { scope, weight } = FAILURES[meaning.kind];
  return weight === 0 ? 'not counted' : scope;
};

describe('what the end of a call counts against', () => {
  it.each<[string, CallEnd, boolean, string]>([
    ['a refused connection', REFUSED, false, 'upstream'],
    ['a lost connection', RESET, false, 'upstream'],
    ['silence', SILENT, false, 'upstream'],
    ['a stream that breaks', RESET, true, 'model'],
    ['a stream that becomes silent', { failed: { code: 'UND_ERR_BODY_TIMEOUT' } }, true, 'model'],
    ['a bad gateway', { status: 502 }, true, 'model'],
    ['a gateway timeout', { status: 504 }, true, 'model'],
    ['a redirect', { status: 307 }, true, 'model'],
    ['a complete 500', { status: 500 }, true, 'not counted'],
    ['a full queue', { status: 503 }, true, 'busy'],
    ['a rate limit', { status: 429 }, true, 'busy'],
    ['a refused key', { status: 401 }, true, 'refused'],
    ['a forbidden model', { status: 403 }, true, 'forbidden'],
    ['a bad request', { status: 400 }, true, 'ok'],
    ['an unsupported format', { status: 415 }, true, 'ok'],
    ['a good response', { status: 200 }, true, 'ok'],
    ['a caller that disconnected', null, false, 'nothing'],
    ['a missing route', { lacks: 'count' }, true, 'nothing'],
  ])('%s', (_, end, hasStatus, expected) => expect(scopeOf(end, hasStatus)).toBe(expected));
});
