import type { GatewayEvents } from '../../contract/events.ts';
import { type PullRecord, PullState, type PullStateName } from '../../contract/pulls.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import type { MetricFactory } from './metric-factory.ts';

/** States in which a download has ended, unless it is restarted. */
const ENDS: ReadonlySet<PullStateName> = new Set(['done', 'failed', 'cancelled']);

/** Counts downloaded bytes and finished downloads from events; no label names a model. */
export function pullSeries(
  make: MetricFactory,
  bus: Pick<EventBus<GatewayEvents>, 'subscribe'>,
  list: () => readonly PullRecord[],
): () => void {
  const bytes = make.counter('svc_pull_bytes_total', 'Downloaded bytes of models.').labels({});
  bytes.inc(0);
  const ended = make.counter('svc_pulls_total', 'Finished downloads by outcome.', 'outcome');
  for (const outcome of ENDS) ended.labels({ outcome }).inc(0);
  /** Last reported bytes of each open download. */
  const open = new Map<string, number>();
  make.gauge('svc_pulls_open', 'Unfinished downloads by state.', ['state'], (gauge) => {
    for (const state of PullState.options) if (!ENDS.has(state)) gauge.set({ state }, 0);
    for (const { state } of list()) if (!ENDS.has(state)) gauge.inc({ state });
  });
  return bus.subscribe(({ name, payload }) => {
    if (name !== 'pull') return;
    const { pull } = payload as GatewayEvents['pull'];
    const before = open.get(pull.id);
    // Bytes from before this run are not counted. Bytes that were discarded as corrupt count again.
    if (before !== undefined && pull.bytes > before) bytes.inc(pull.bytes - before);
    if (!ENDS.has(pull.state)) open.set(pull.id, pull.bytes);
    else if (open.delete(pull.id)) ended.labels({ outcome: pull.state }).inc();
  });
}
