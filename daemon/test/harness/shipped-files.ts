import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The shipped files for Prometheus; the dashboard for Grafana is in a sibling folder. */
export const SHIPPED = join(import.meta.dirname, '..', '..', '..', 'packaging', 'prometheus');

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
}
const dashboard = JSON.parse(
  readFileSync(join(SHIPPED, '..', 'grafana', 'svc-gateway.json'), 'utf8'),
) as Dashboard;
/** The queries of the dashboard, with the variables that Grafana would replace. */
export const QUERIES = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }): [string, string] => [
    title,
    expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'),
  ]),
);
/** The expressions of the alerts, each on one line or folded after `>-`. */
export const ALERTS = [
  ...readFileSync(join(SHIPPED, 'alerts.yml'), 'utf8').matchAll(
    /- alert: (\w+)\n\s+expr: (?:>-\n)?([\s\S]*?)\n\s+(?:for|labels):/g,
  ),
].map(([, name = '', expr = '']): [string, string] => [name, expr.replace(/\s+/g, ' ').trim()]);
