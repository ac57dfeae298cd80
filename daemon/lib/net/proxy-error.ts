/** Codes of a proxy that cannot be reached. No request was sent. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ENOTFOUND: 'has a host name that cannot be resolved',
  EAI_AGAIN: 'has a host name that cannot be resolved right now',
  EHOSTUNREACH: 'cannot be reached: there is no route to its host',
  ENETUNREACH: 'cannot be reached: there is no route to its network',
  ETIMEDOUT: 'did not respond in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not respond in time',
};
/** A proxy that does not answer CONNECT in time. After the request was sent, its server is silent. */
const NO_HEADERS = 'UND_ERR_HEADERS_TIMEOUT';
/** Codes of a proxy that closes the connection. */
const CLOSED: ReadonlySet<string> = new Set(['UND_ERR_PRX_CONN', 'UND_ERR_SOCKET', 'ECONNRESET']);

/** Codes of a SOCKS proxy that wants another login. */
const NEEDS_LOGIN: ReadonlySet<string> = new Set(
  ['AUTH_REJECTED', 'AUTH_FAILED', 'AUTH_METHOD'].map((code) => `UND_ERR_SOCKS5_${code}`),
);
const SOCKS = 'UND_ERR_SOCKS5';
/** Codes of certificates and of a peer without TLS. */
const TLS = /CERT|SELF_SIGNED|ERR_SSL|ERR_TLS|UND_ERR_PRX_TLS|EPROTO/;

/** A request failed at the proxy, before a response of the server. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code: 'ERR_PROXY' | 'ERR_PROXY_AUTH';
  /** No request was sent to the server. */
  readonly isUnsent: boolean;

  constructor(proxy: string, reason: string, { needsLogin = false, isUnsent = true } = {}) {
    const { host } = new URL(proxy);
    super(`The proxy ${host} ${reason}. Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.`);
    this.code = needsLogin ? 'ERR_PROXY_AUTH' : 'ERR_PROXY';
    this.isUnsent = isUnsent;
  }
}

export interface FailedRequest {
  /** Address of the proxy. */
  readonly proxy: string;
  /** The request had begun to be sent. */
  readonly isSent: boolean;
  /** The server uses TLS too, so that an error of TLS may be one of the server. */
  readonly toTls: boolean;
  /** The connection to the proxy failed, not one through it. */
  readonly isAtProxy?: boolean;
}

/** Returns an error before the response as one of the proxy. Any other error is returned unchanged. Pure. */
export function asProxyError(error: Error, { proxy, isSent, toTls, isAtProxy }: FailedRequest): Error {
  const { code = '', message } = error as Error & { code?: string };
  const { protocol } = new URL(proxy);
  const status = /Proxy response \((\d{3})\)/.exec(message)?.[1] ?? /\((407)\)/.exec(message)?.[1];
  if (status === '407' || NEEDS_LOGIN.has(code)) {
    const reason = `requires a user name and a password: ${protocol}//USER:PASSWORD@HOST:PORT`;
    return new ProxyError(proxy, reason, { needsLogin: true });
  }
  if (status !== undefined) return new ProxyError(proxy, `refused the connection with status ${status}`);
  if (code === NO_HEADERS && !isSent) return new ProxyError(proxy, 'did not respond in time');
  if (code.startsWith(SOCKS)) return new ProxyError(proxy, socksReason(code, message));
  if (protocol === 'https:' && (isAtProxy || !toTls) && TLS.test(code))
    return new ProxyError(proxy, `has no trusted TLS certificate (${code})`);
  if (Object.hasOwn(UNREACHABLE, code)) return new ProxyError(proxy, UNREACHABLE[code] as string);
  return CLOSED.has(code) ? new ProxyError(proxy, 'closed the connection', { isUnsent: false }) : error;
}

/** Returns why a SOCKS proxy did not connect: the reply that it sent, or that it is none. */
const socksReason = (code: string, message: string): string =>
  code.startsWith(`${SOCKS}_REPLY_`) && code !== `${SOCKS}_REPLY_VERSION`
    ? `could not connect to the server: ${message.replace(/^.*: /, '').toLowerCase()}`
    : 'does not answer as a SOCKS5 proxy';
