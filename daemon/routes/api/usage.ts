import type { UsageView } from '../../contract/system.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyHandler as Handler } from '../handler.ts';
import { Query } from '../query.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;
const MAX_ROWS = 5_000;

/**
 * `GET /api/usage?days=`: sums per day (UTC), tier and model, today included; newest first. `GET /api/usage/minutes`: the
 * last hour, oldest first.
 */
export function usageRoutes(deps: Pick<RouteDeps, 'store' | 'minutes'>) {
  const usage: Handler = (_ctx, call): UsageView => {
    const days = new Query(call).whole('days', { min: 1, max: MAX_DAYS, absent: 30 });
    const since = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
    const rows = deps.store.usage.since(since);
    return { since, days: rows.slice(0, MAX_ROWS), truncated: rows.length > MAX_ROWS };
  };
  return { usage, 'usage.minutes': () => ({ minutes: deps.minutes.rows() }) } satisfies Record<
    string,
    Handler
  >;
}
