import type { GatewayEvents } from '../../daemon/contract/events.ts';
import { EventBus } from '../../daemon/lib/async/event-bus.ts';
import { createMetrics } from '../../daemon/telemetry/metrics.ts';
import type { MetricRow } from '../../daemon/telemetry/series/metric-factory.ts';
import { row } from './markdown.ts';

/** The metrics of a gateway in which every optional part is present. */
function metricRows(): readonly MetricRow[] {
  const metrics = createMetrics({
    version: '',
    slots: { list: () => [], onEvent: () => () => {} },
    upstreams: { views: () => [] },
    hardware: { last: () => null, view: () => null },
    pulls: { list: () => [] },
    store: { health: () => ({ status: 'ok' }) },
    spans: { counts: () => ({ sent: 0, dropped: 0, refused: 0 }) },
    bus: new EventBus<GatewayEvents>(),
  });
  metrics.close();
  return [...metrics.rows].sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

const line = ({ name, kind, labels, help }: MetricRow): string =>
  row(`\`${name}\``, kind, labels.map((label) => `\`${label}\``).join(', '), help);

/** Every Prometheus metric, by name. */
export function metricsPage(): string {
  return `<!-- Made by npm run docs from daemon/telemetry. Do not edit. -->

# Metrics

For everyone who reads \`GET /api/metrics/prometheus\`. How to scrape it, and what the labels mean: [observability](../guide/observability.md).
A series has the label \`slot\` or \`upstream\`, never both; a request that reached neither has no such label.

${row('metric', 'kind', 'labels', 'meaning')}
${row('---', '---', '---', '---')}
${metricRows().map(line).join('\n')}
`;
}
