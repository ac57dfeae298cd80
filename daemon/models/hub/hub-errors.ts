import { GatewayError } from '../../contract/errors.ts';
import { ProxyError } from '../../lib/net/proxy-error.ts';
import { HubStatus } from './hub-status.ts';

/** A refusal of the hub. */
export interface HubRefusal {
  readonly status: number;
  /** The hub's `x-error-code`: GatedRepo, RepoNotFound, RevisionNotFound, EntryNotFound. Null when absent. */
  readonly code: string | null;
  /** Whether a token was sent. */
  readonly withToken: boolean;
}

const GATED =
  'The repository is gated: accept its terms on the hub, then set HF_TOKEN in api.env to a token of that account.';
const DENIED =
  'The hub rejected HF_TOKEN for this repository. Check the token, and accept the terms of the repository with its account.';
const MISSING: Readonly<Record<string, string>> = {
  RevisionNotFound: 'The repository has no such revision. Check its name on the website of the hub.',
  EntryNotFound: 'The repository has no such file. See the file list on the website of the hub.',
};

/** Converts a refusal of the hub to a gateway error. Null for a status that may change on its own. */
export function refusalOf({ status, code, withToken }: HubRefusal): GatewayError | null {
  if (code === 'GatedRepo') {
    return new GatewayError('pull.gated', { message: withToken ? DENIED : GATED });
  }
  if (status === 404 || code === 'RepoNotFound') {
    const hint = withToken ? '' : ' A private repository needs HF_TOKEN in api.env.';
    return new GatewayError('pull.not_found', {
      message: MISSING[code ?? ''] ?? `The hub has no such repository.${hint}`,
    });
  }
  if (status === 401 && !withToken) {
    return new GatewayError('pull.not_found', {
      message:
        'The hub has no such repository, or it is private. For a private repository, set HF_TOKEN in api.env.',
    });
  }
  if (!withToken) return null;
  return status === 401 || status === 403 ? new GatewayError('pull.gated', { message: DENIED }) : null;
}

const DENIED_BY_NETWORK =
  'Access was denied (status 403) without a reason of the hub. An expired link, a proxy or a firewall can cause this. Try again later, or use another network.';
const LIMITED = 'The hub limits the number of requests.';

function statusError(error: HubStatus): GatewayError {
  const { status, code, withToken, retryAfterS } = error;
  const refused = refusalOf({ status, code, withToken });
  if (refused !== null) return refused;
  const wait = retryAfterS === null ? 'Try again later.' : `Try again in ${retryAfterS} s.`;
  const messages: Readonly<Record<number, string>> = { 403: DENIED_BY_NETWORK, 429: `${LIMITED} ${wait}` };
  return new GatewayError('pull.hub_unreachable', {
    message: messages[status] ?? `The hub responded with status ${status}. ${wait}`,
    ...(retryAfterS === null ? {} : { retryAfterS }),
    cause: error,
  });
}

/** Returns why the hub request failed, for the caller. Never contains an address or a token. */
export function hubError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof HubStatus) return statusError(error);
  return new GatewayError('pull.hub_unreachable', { message: describeError(error), cause: error });
}

/** Returns the refusal of a gated repository for which no token is set. */
export const gatedError = (): GatewayError => new GatewayError('pull.gated', { message: GATED });

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The hub refused the connection.',
  ENOTFOUND: 'The host name of the hub cannot be resolved.',
  EAI_AGAIN: 'The host name of the hub cannot be resolved right now.',
  ENETUNREACH: 'There is no route to the network of the hub.',
  EHOSTUNREACH: 'There is no route to the host of the hub.',
  ETIMEDOUT: 'The hub did not respond in time. Try again.',
  TimeoutError: 'The hub did not respond in time. Try again.',
  UND_ERR_CONNECT_TIMEOUT: 'The hub did not respond in time. Try again.',
  UND_ERR_HEADERS_TIMEOUT: 'The hub did not respond in time. Try again.',
  UND_ERR_BODY_TIMEOUT: 'The hub stopped sending data. Try again.',
  UND_ERR_SOCKET: 'The hub closed the connection. Try again.',
  ECONNRESET: 'The hub closed the connection. Try again.',
  ERR_UNREACHABLE_ADDRESS:
    'The hub redirects to an address in a private network. Add a storage of your mirror to models.hub_storage_hosts.',
  RefusedHop:
    'The hub redirects to an address that is not allowed. Add a storage of your mirror to models.hub_storage_hosts.',
  LongAnswer: 'The response of the hub is too large.',
  SyntaxError: 'The response is not JSON. Check that HF_ENDPOINT is the address of a hub.',
};

/** Describes a connection failure in one sentence. */
export function describeError(error: unknown): string {
  if (error instanceof ProxyError) return error.message;
  const { code, name } = error as { code?: string; name?: string };
  return MESSAGES[code ?? ''] ?? MESSAGES[name ?? ''] ?? 'The hub could not be reached.';
}
