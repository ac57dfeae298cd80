import { expect, it } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { cannotCountTokens } from '../../upstreams/refusals.ts';
import { callEnd } from './call-end.ts';
import { ClientDisconnected } from './call-scope.ts';
import { errorInside200, judge } from './engine-error.ts';
import { brokenResponse, connectionFailure } from './failure.ts';
import { InBandError } from './in-band-error.ts';

const bytes = Buffer.from('{"detail":"no"}');
const wrapped = (status: number) => {
  const verdict = judge({ status, bytes, truncated: false });
  return verdict.passes ? null : verdict.error;
};
const masked = (upstream_status: number) =>
  new GatewayError('audio.unsupported_format', { details: { upstream_status } });
const refused = { code: 'ECONNREFUSED' };
const answer = { status: 200 };

it.each([
  ['a complete response', null, answer],
  ['a wrapped 500', wrapped(500), { status: 500 }],
  ['a busy 503', wrapped(503), { status: 503 }],
  ['a masked 500', masked(500), null],
  ['a masked 503', masked(503), { status: 503 }],
  ['a refused key of the gateway', wrapped(401), { status: 401 }],
  ['an error inside a 200', errorInside200(bytes, false), { status: 200 }],
  ['a prompt that is too long', new GatewayError('context_length_exceeded'), { status: 400 }],
  ['an event that reports a failure', new InBandError('upstream.error', 500), { status: 500 }],
  ['one without details', new InBandError('upstream.error', null), null],
  ['one about a key', new InBandError('upstream.error', 401), null],
  ['no route that counts', cannotCountTokens(404), { lacks: 'count' }],
  ['no listener', connectionFailure(refused), { failed: refused }],
  ['a broken connection', brokenResponse(refused), { failed: refused }],
  ['a caller that disconnected', new ClientDisconnected(), null],
  ['a cancel', new GatewayError('request.cancelled'), null],
  ['the total time limit of the gateway', new GatewayError('dispatch.upstream_timeout'), null],
])('%s', (_, failure, expected) => expect(callEnd(failure, answer)).toEqual(expected));

it('a relayed error counts by its status', () => {
  expect(callEnd(new InBandError('rate_limit_exceeded', 429), { status: 429 })).toEqual({ status: 429 });
});
