import type { Outbound } from '../lib/net/outbound.ts';
import { plural } from '../lib/text/plural.ts';
import { faultOf } from './connection-error.ts';
import { HOPS_HEADER, INSTANCE_HEADER } from './hops.ts';
import { readModelList, withoutOwnCalls } from './model-list.ts';
import { PROVIDER_KINDS } from './provider-kinds.ts';
import { queryUpstream, type UpstreamResponse } from './query-upstream.ts';
import { keyMissing } from './refusals.ts';
import type { CallCredentials, Upstream } from './upstream.ts';

/**
 * Maximum time for one list, in milliseconds: less than for all of them together
 * (docs/spec/contract.md#live-lists).
 */
export const LIST_LIMIT_MS = 7_000;
const MAX_BYTES = 8 * 1024 * 1024;
const LOOP = 'Its address leads back to this gateway.';

export interface ListDeps {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  /** The instance name of this gateway. */
  readonly instance: string;
  connectMs(upstream: Upstream): number;
}

/** The result of a list request. */
export interface ListOutcome {
  readonly ok: boolean;
  readonly status: number | null;
  /** For administrators. */
  readonly message: string;
}

/**
 * Requests the models of an upstream and records the result: the list, a refused key, a failure. Never
 * throws, except the signal's reason when the caller disconnects; nothing is recorded then.
 */
export async function readList(
  upstream: Upstream,
  deps: ListDeps,
  signal: AbortSignal,
): Promise<ListOutcome> {
  const notSent = (message: string): ListOutcome => ({ ok: false, status: null, message });
  if (upstream.isSelf) return notSent(LOOP);
  if (upstream.isKeyMissing) {
    upstream.recordKeyRefused(upstream.currentCredentials);
    return notSent(keyMissing(upstream.config));
  }
  const { currentCredentials } = upstream;
  let answer: UpstreamResponse;
  try {
    answer = await queryUpstream({ ...queryOf(upstream, deps), signal });
  } catch (error) {
    signal.throwIfAborted();
    const { message } = faultOf(error);
    upstream.recordListFailure(message, error);
    return notSent(message);
  }
  return applyResponse(upstream, answer, { instance: deps.instance, sent: currentCredentials });
}

function queryOf(upstream: Upstream, { outbound, instance, connectMs }: ListDeps) {
  const { at, kind } = upstream.config;
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...upstream.credential(),
    [HOPS_HEADER]: instance,
  };
  return {
    outbound,
    limitMs: LIST_LIMIT_MS,
    maxBytes: MAX_BYTES,
    request: {
      origin: at.origin,
      path: `${at.base}${PROVIDER_KINDS[kind].listPath}`,
      method: 'GET' as const,
      headers: Object.entries(headers).flat(),
      body: null,
      idleMs: LIST_LIMIT_MS,
      connectMs: Math.min(connectMs(upstream), LIST_LIMIT_MS),
    },
  };
}

interface QueryContext {
  readonly instance: string;
  readonly sent: CallCredentials;
}

function applyResponse(
  upstream: Upstream,
  answer: UpstreamResponse,
  { instance, sent }: QueryContext,
): ListOutcome {
  const { status, headers, bytes } = answer;
  const failed = (message: string): ListOutcome => ({ ok: false, status, message });
  if (headers[INSTANCE_HEADER] === instance) {
    upstream.recordLoop();
    return failed(LOOP);
  }
  // A server error on an indirect way may come from the same loop as before.
  if (status < 500) upstream.clearLoop();
  if (refusesKey(upstream, status)) {
    upstream.recordKeyRefused(sent);
    return failed(
      upstream.config.keyEnv === null ? 'It requires a key. Set one with key_env.' : 'It refused the key.',
    );
  }
  if (upstream.config.models !== null && status < 500) {
    upstream.recordListResponse(status < 300, sent);
    return { ok: true, status, message: 'It responds; its file lists its models.' };
  }
  const broken = refusal(status);
  if (broken !== null) {
    upstream.recordListFailure(broken, status >= 500 ? new Error(broken) : undefined);
    if (status < 500) upstream.breaker.recordReachable();
    return failed(broken);
  }
  const models = readModelList(parsed(bytes));
  if (models === null) {
    upstream.recordListFailure('Its response is not a model list.');
    return failed(
      'Its response is not a model list. Check the end of base_url against its documentation (…/v1).',
    );
  }
  upstream.listing.update(withoutOwnCalls(models, upstream.activeCalls.count));
  upstream.recordListResponse(true, sent);
  return { ok: true, status, message: plural(upstream.models.length, 'model') };
}

/** Returns true for 401, and for 403 unless calls accept the key and the file lists the models. */
function refusesKey({ config, acceptsKey }: Upstream, status: number): boolean {
  return status === 401 || (status === 403 && (config.models === null || !acceptsKey));
}

function refusal(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return 'It redirects, which the gateway does not follow; use the target address.';
  if (status === 404 || status === 405) {
    return 'It has no model list at this path; check base_url, or list its models in its file.';
  }
  return `It answered the request for its model list with status ${status}.`;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
