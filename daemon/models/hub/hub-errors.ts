import { GatewayError } from '../../contract/errors.ts';
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
  if (status === 401 || status === 403) return new GatewayError('pull.gated', { message: DENIED });
  return null;
}

/** Returns why the hub request failed, for the caller. Never contains an address or a token. */
export function hubError(error: unknown, withToken: boolean): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof HubStatus) {
    const { status, code } = error;
    const message = `The hub responded with status ${status}. Try again later.`;
    return (
      refusalOf({ status, code, withToken }) ??
      new GatewayError('pull.hub_unreachable', { message, cause: error })
    );
  }
  return new GatewayError('pull.hub_unreachable', { message: describeError(error), cause: error });
}

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
    'The hub redirects to an address in a private network. Such redirects are not followed.',
  RefusedHop: 'The hub redirects to an address that is not allowed.',
  LongAnswer: 'The response of the hub is too large.',
  SyntaxError: 'The response is not JSON. Check that HF_ENDPOINT is the address of a hub.',
};

/** Describes a connection failure in one sentence. */
export function describeError(error: unknown): string {
  const { code, name } = error as { code?: string; name?: string };
  return MESSAGES[code ?? ''] ?? MESSAGES[name ?? ''] ?? 'The hub could not be reached.';
}
