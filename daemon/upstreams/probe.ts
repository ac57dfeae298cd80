import type { Outbound, OutboundController, OutboundRequest } from '../lib/net/outbound.ts';
import { HOPS_HEADER } from './hops.ts';
import type { ProbeResult } from './liveness.ts';
import { PROVIDER_KINDS, serverRoot } from './provider-kinds.ts';
import { queryUpstream } from './query-upstream.ts';
import type { Upstream } from './upstream.ts';

/** Time limit of a probe in milliseconds. */
export const PROBE_LIMIT_MS = 2_000;
const MAX_SLEEP_BYTES = 4_096;
/** Statuses with which a proxy reports that the server behind it does not respond. */
const PROXY_STATUSES: ReadonlySet<number> = new Set([502, 504]);

export interface ProbeDeps {
  readonly outbound: Pick<Outbound, 'dispatch'>;
  /** The instance name of this gateway. */
  readonly instance: string;
  /** Overrides the time limit in milliseconds, for tests. */
  readonly limitMs?: number | undefined;
}

/**
 * Requests the model list of an upstream on a new connection and waits for the status only: any status but 502
 * and 504 shows that it responds. Also asks a vLLM whether it is in sleep mode. Never rejects; a probe that is
 * aborted counts as `alive`.
 */
export async function probe(upstream: Upstream, deps: ProbeDeps, signal: AbortSignal): Promise<ProbeResult> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(deps.limitMs ?? PROBE_LIMIT_MS)]);
  try {
    const status = await statusOf(deps.outbound, requestOf(upstream, deps, '/models'), limit);
    if (PROXY_STATUSES.has(status)) return 'failed';
    const { sleepPath } = PROVIDER_KINDS[upstream.config.kind];
    return sleepPath === undefined ? 'alive' : await sleepState(upstream, deps, sleepPath, limit);
  } catch (error) {
    if (signal.aborted) return 'alive';
    return isRefused(error) ? 'refused' : 'failed';
  }
}

/** Resolves with the status of a response, without reading its body. */
function statusOf(
  outbound: Pick<Outbound, 'dispatch'>,
  request: OutboundRequest,
  limit: AbortSignal,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let controller: OutboundController | null = null;
  const stop = () => {
    reject(limit.reason);
    controller?.abort(new Error('the probe has ended'));
  };
  limit.addEventListener('abort', stop, { once: true });
  outbound.dispatch(request, {
    onRequestStart(started) {
      controller = started;
      if (limit.aborted) stop();
    },
    onResponseStart(started, status) {
      if (status < 200) return;
      resolve(status);
      started.abort(new Error('the probe has ended'));
    },
    onResponseData: () => {},
    onResponseEnd: () => {},
    onResponseError: (_, error) => reject(error),
  });
  return promise.finally(() => limit.removeEventListener('abort', stop));
}

/**
 * A vLLM in sleep mode serves its model list, but no calls. Outside of its development mode it has no such route.
 * Only a clear answer counts.
 */
async function sleepState(
  upstream: Upstream,
  deps: ProbeDeps,
  sleepPath: string,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const path = `${serverRoot(upstream.config.at.base)}${sleepPath}`;
  const text = await queryUpstream({
    outbound: deps.outbound,
    request: { ...requestOf(upstream, deps, ''), path },
    limitMs: PROBE_LIMIT_MS,
    maxBytes: MAX_SLEEP_BYTES,
    signal,
  }).then(
    ({ bytes }) => bytes.toString('latin1'),
    () => '',
  );
  return /"is_sleeping"\s*:\s*true/.test(text) ? 'sleeping' : 'alive';
}

function requestOf(upstream: Upstream, { instance }: ProbeDeps, path: string): OutboundRequest {
  const { at } = upstream.config;
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...upstream.credential(),
    [HOPS_HEADER]: instance,
  };
  return {
    origin: at.origin,
    path: `${at.base}${path}`,
    method: 'GET',
    headers: Object.entries(headers).flat(),
    body: null,
    idleMs: PROBE_LIMIT_MS,
    connectMs: PROBE_LIMIT_MS,
    fresh: true,
  };
}

const isRefused = (error: unknown): boolean => {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown[] };
  return code === 'ECONNREFUSED' || (errors !== undefined && errors.length > 0 && errors.every(isRefused));
};
