import type { UpstreamRecord } from '../contract/upstreams.ts';
import type { Upstream } from './upstream.ts';

/** The view for the client tier: without address and variable name. */
export function upstreamView(upstream: Upstream): UpstreamRecord {
  const { name, enabled, kind, remote, priority } = upstream.config;
  return {
    name,
    enabled,
    kind,
    remote,
    priority,
    health: upstream.health,
    models: upstream.models.length,
    listed_at: upstream.listing.fetchedAt,
  };
}

export interface DetailInput {
  readonly requestsToday: number;
  /** Unix milliseconds. */
  readonly retryAt: number | null;
}

/** The view for administrators: everything but the key. */
export function upstreamDetail(upstream: Upstream, input: DetailInput): UpstreamRecord {
  const { config } = upstream;
  return {
    ...upstreamView(upstream),
    base_url: config.at.text,
    key_env: config.keyEnv,
    key_set: upstream.key !== null,
    header: config.header,
    weight: config.weight,
    local_first: config.localFirst,
    daily_requests: config.dailyRequests,
    requests_today: input.requestsToday,
    include: [...config.include],
    exclude: [...config.exclude],
    stream_usage: config.streamUsage,
    send_app_name: config.sendAppName,
    hang_probe: config.hangProbe,
    connect_timeout_s: config.connectTimeoutS,
    idle_timeout_s: config.idleTimeoutS,
    reason: upstream.reason,
    retry_at: input.retryAt,
    model_ids: upstream.models.map(({ id }) => id),
  };
}
