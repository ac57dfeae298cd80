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
const DENIED = 'The hub refuses HF_TOKEN for this repository: it has no access to it, or the token is wrong.';
const MISSING: Readonly<Record<string, string>> = {
  RevisionNotFound: 'The repository has no such revision.',
  EntryNotFound: 'The repository has no such file.',
};

/** Converts a refusal of the hub to a gateway error. Null for a status that may change by itself. */
export function refusalOf({ status, code, withToken }: HubRefusal): GatewayError | null {
  if (code === 'GatedRepo') {
    return new GatewayError('pull.gated', { message: withToken ? DENIED : GATED });
  }
  if (status === 404 || code === 'RepoNotFound') {
    const hint = withToken ? '' : ' A private one needs HF_TOKEN.';
    return new GatewayError('pull.not_found', {
      message: MISSING[code ?? ''] ?? `The hub has no such repository.${hint}`,
    });
  }
  if (status === 401 && !withToken) {
    return new GatewayError('pull.not_found', {
      message:
        'The hub has no such repository, or shows it to some accounts only: then set HF_TOKEN in api.env.',
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
    const message = `The hub answers with status ${status}.`;
    return (
      refusalOf({ status, code, withToken }) ??
      new GatewayError('pull.hub_unreachable', { message, cause: error })
    );
  }
  return new GatewayError('pull.hub_unreachable', { message: describeError(error), cause: error });
}

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens at the address of the hub (HF_ENDPOINT).',
  ENOTFOUND: 'The name of the hub does not resolve; is this machine online?',
  EAI_AGAIN: 'The name of the hub does not resolve now; is this machine online?',
  ENETUNREACH: 'There is no way to the network of the hub.',
  EHOSTUNREACH: 'There is no way to the host of the hub.',
  ETIMEDOUT: 'The hub did not answer in time.',
  TimeoutError: 'The hub did not answer in time.',
  UND_ERR_CONNECT_TIMEOUT: 'The hub did not answer in time.',
  UND_ERR_HEADERS_TIMEOUT: 'The hub did not answer in time.',
  UND_ERR_BODY_TIMEOUT: 'The hub fell silent.',
  UND_ERR_SOCKET: 'The hub closed the connection.',
  ECONNRESET: 'The hub closed the connection.',
  ERR_UNREACHABLE_ADDRESS: 'The hub leads to an address of a private network, which is never followed.',
  RefusedHop: 'The hub redirects to a place that is never followed.',
  LongAnswer: 'The answer of the hub is too large.',
  SyntaxError: 'The answer of the hub is no JSON; is it a hub?',
};

/** Describes a connection failure in one sentence. */
export function describeError(error: unknown): string {
  const { code, name } = error as { code?: string; name?: string };
  return MESSAGES[code ?? ''] ?? MESSAGES[name ?? ''] ?? 'The hub could not be reached.';
}
