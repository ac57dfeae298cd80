import { ProxyError } from '../lib/net/proxy-error.ts';
import { BadResponseError } from './query-upstream.ts';

/** Why a connection gave no proper response. */
export interface Fault {
  readonly kind: 'unreachable' | 'lost';
  /** The request was not sent, so no work was started. */
  readonly isUnsent: boolean;
  /** One sentence for the administrator; no address, no key. */
  readonly message: string;
}

/** Codes of connections that never opened. */
const CONNECT_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'It refused the connection: no server listens at this address.',
  ENOTFOUND: 'Its host name cannot be resolved.',
  EAI_AGAIN: 'Its host name cannot be resolved right now.',
  EHOSTUNREACH: 'No route to its host.',
  ENETUNREACH: 'No route to its network.',
  ETIMEDOUT: 'Its host did not respond in time.',
  EHOSTDOWN: 'Its host is down.',
  UND_ERR_CONNECT_TIMEOUT: 'Its host did not respond in time.',
  ERR_UNREACHABLE_ADDRESS: 'Its name resolves to an address that the gateway never connects to.',
  CERT_HAS_EXPIRED: 'Its certificate has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Its certificate is self-signed; see NODE_EXTRA_CA_CERTS.',
  SELF_SIGNED_CERT_IN_CHAIN: 'Its certificate is from an unknown authority; see NODE_EXTRA_CA_CERTS.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'Its certificate cannot be verified; see NODE_EXTRA_CA_CERTS.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'Its certificate is from an unknown authority; see NODE_EXTRA_CA_CERTS.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Its certificate is for another name.',
  EPROTO: 'It does not use TLS on this port.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'It does not use TLS on this port.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'It does not use TLS on this port.',
};

/** Codes that an open connection can have too. The system call distinguishes them. */
const AMBIGUOUS: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EPROTO',
]);
const TIMEOUTS: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'TimeoutError',
]);
const PROTOCOL_ERRORS: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

interface Coded {
  readonly code?: unknown;
  readonly name?: unknown;
  readonly syscall?: unknown;
  readonly errors?: unknown[];
}

/** Returns the error itself, or the first of several errors of a name with several addresses. */
function first(error: unknown): Coded {
  const coded = (typeof error === 'object' && error !== null ? error : {}) as Coded;
  return typeof coded.code !== 'string' && coded.errors?.length ? first(coded.errors[0]) : coded;
}

const lost = (message: string): Fault => ({ kind: 'lost', isUnsent: false, message });

/** What a failed connection means. Takes anything that was thrown. */
export function faultOf(error: unknown): Fault {
  if (error instanceof BadResponseError) return lost(error.message);
  if (error instanceof ProxyError)
    return { kind: 'unreachable', isUnsent: error.isUnsent, message: error.message };
  const { code: raw, name, syscall } = first(error);
  const code = typeof raw === 'string' ? raw : String(name ?? '');
  if (Object.hasOwn(CONNECT_ERRORS, code)) {
    const isUnsent = !AMBIGUOUS.has(code) || syscall === 'connect';
    return { kind: 'unreachable', isUnsent, message: CONNECT_ERRORS[code] as string };
  }
  if (TIMEOUTS.has(code)) return lost('It did not respond in time.');
  if (PROTOCOL_ERRORS.has(code) || code.startsWith('HPE_') || name === 'HTTPParserError')
    return lost('Its response is not valid HTTP.');
  return lost('It closed the connection.');
}
