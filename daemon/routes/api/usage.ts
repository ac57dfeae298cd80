import type { UsageView } from '../../contract/system.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { Query } from '../query.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;
const MAX_ROWS = 5_000;

/**
 * `GET /api/usage?days=`: sums per day (UTC), tier and model, today included; newest first. `GET /api/usage/minutes`: the
 * last hour, oldest first.
 */
export function usageRoutes(deps: Pick<RouteDeps, 'store' | 'minutes'>) {
  const usage: Handler = (ctx) => {
    const days = new Query(ctx).whole('days', { min: 1, max: MAX_DAYS, absent: 30 });
    const since = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
    const rows = deps.store.usage.since(since);
    const view: UsageView = { since, days: rows.slice(0, MAX_ROWS), truncated: rows.length > MAX_ROWS };
    ctx.body = view;
  };
  const minutes: Handler = (ctx) => {
    ctx.body = { minutes: deps.minutes.rows() };
  };
  return { usage, 'usage.minutes': minutes } satisfies Record<string, Handler>;
}
