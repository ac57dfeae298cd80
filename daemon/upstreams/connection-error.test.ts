import { expect, it } from 'vitest';
import { faultOf } from './connection-error.ts';
import { BadResponseError } from './query-upstream.ts';

const error = (code: string, more: object = {}) =>
  Object.assign(new Error(`to 10.0.0.1: ${code}`), { code, ...more });

it.each([
  [
    error('ECONNREFUSED'),
    'unreachable',
    true,
    'It refused the connection: no server listens at this address.',
  ],
  [
    new AggregateError([error('ECONNREFUSED'), error('ETIMEDOUT')]),
    'unreachable',
    true,
    'It refused the connection: no server listens at this address.',
  ],
  [error('ENOTFOUND'), 'unreachable', true, 'Its host name cannot be resolved.'],
  [error('UND_ERR_CONNECT_TIMEOUT'), 'unreachable', true, 'Its host did not respond in time.'],
  [error('ETIMEDOUT', { syscall: 'connect' }), 'unreachable', true, 'Its host did not respond in time.'],
  [error('ETIMEDOUT', { syscall: 'read' }), 'unreachable', false, 'Its host did not respond in time.'],
  [error('ERR_TLS_CERT_ALTNAME_INVALID'), 'unreachable', true, 'Its certificate is for another name.'],
  [error('UND_ERR_HEADERS_TIMEOUT'), 'lost', false, 'It did not respond in time.'],
  [new DOMException('late', 'TimeoutError'), 'lost', false, 'It did not respond in time.'],
  [error('HPE_INVALID_CONSTANT'), 'lost', false, 'Its response is not valid HTTP.'],
  [
    Object.assign(new Error('x'), { name: 'HTTPParserError' }),
    'lost',
    false,
    'Its response is not valid HTTP.',
  ],
  [error('UND_ERR_SOCKET'), 'lost', false, 'It closed the connection.'],
  [error('ECONNRESET'), 'lost', false, 'It closed the connection.'],
  [new BadResponseError('Its response is too large.'), 'lost', false, 'Its response is too large.'],
  [null, 'lost', false, 'It closed the connection.'],
  ['odd', 'lost', false, 'It closed the connection.'],
] as const)('%s', (thrown, kind, isUnsent, message) => {
  expect(faultOf(thrown)).toEqual({ kind, isUnsent, message });
});
