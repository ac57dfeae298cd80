import { type ExplainView, RemoteExplain } from '../contract/system.ts';
import type { Outbound } from '../lib/net/outbound.ts';
import { faultOf } from './connection-error.ts';
import { HOPS_HEADER } from './hops.ts';
import { queryUpstream, type UpstreamResponse } from './query-upstream.ts';
import type { Upstream } from './upstream.ts';

/** Time limit of the query, in milliseconds. It reads the state of the other gateway and waits for nothing there. */
const LIMIT_MS = 3_000;
const MAX_BYTES = 256 * 1024;

/** What another svc-gateway would do with a request, or why that is not known. */
export type RemoteExplanation = NonNullable<ExplainView['beyond']>;

export interface ExplainQuery {
  readonly path: string;
  readonly model: string;
}

/**
 * Queries the svc-gateway behind an upstream how it would route a request. Sends path and model, never the body.
 * Throws only the reason of the signal.
 */
export async function queryExplain(
  upstream: Upstream,
  query: ExplainQuery,
  { outbound, instance }: { outbound: Pick<Outbound, 'dispatch'>; instance: string },
  signal: AbortSignal,
): Promise<RemoteExplanation> {
  const { at } = upstream.config;
  if (upstream.isKeyMissing) return failed('Its key is not set.');
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    ...upstream.credential(),
    [HOPS_HEADER]: instance,
  };
  const request = {
    origin: at.origin,
    path: `${at.base.replace(/\/v1$/, '')}/api/dispatch/explain`,
    method: 'POST' as const,
    headers: Object.entries(headers).flat(),
    body: Buffer.from(JSON.stringify(query)),
    idleMs: LIMIT_MS,
    connectMs: LIMIT_MS,
  };
  try {
    const limits = { limitMs: LIMIT_MS, maxBytes: MAX_BYTES };
    return read(await queryUpstream({ outbound, request, ...limits, signal }));
  } catch (error) {
    signal.throwIfAborted();
    return failed(faultOf(error).message);
  }
}

const failed = (failure: string): RemoteExplanation => ({ answer: null, failure });

function read({ status, bytes }: UpstreamResponse): RemoteExplanation {
  if (status !== 200) return failed(`It answered with status ${status}.`);
  try {
    return { answer: RemoteExplain.parse(JSON.parse(bytes.toString('utf8'))), failure: null };
  } catch {
    return failed('Its answer is not an explanation.');
  }
}
