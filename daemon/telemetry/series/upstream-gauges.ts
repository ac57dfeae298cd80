import { UPSTREAM_HEALTH, type UpstreamRecord, USABLE_HEALTH } from '../../contract/upstreams.ts';
import type { MetricFactory } from './metric-factory.ts';

const BY_UPSTREAM: readonly [name: string, help: string, value: (upstream: UpstreamRecord) => number][] = [
  ['svc_upstream_models', 'Models in the model list of an upstream.', ({ models }) => models],
  [
    'svc_upstream_up',
    '1 while an upstream is expected to be reachable.',
    ({ health }) => Number(USABLE_HEALTH.has(health)),
  ],
];

/**
 * Registers gauges that read the known state of the upstreams at each scrape. Sends no request. Disabled
 * upstreams are left out.
 */
export function upstreamGauges(make: MetricFactory, upstreams: () => readonly UpstreamRecord[]): void {
  const enabled = () => upstreams().filter((upstream) => upstream.enabled);
  for (const [name, help, value] of BY_UPSTREAM) {
    make.gauge(name, help, ['upstream'], (gauge) => {
      for (const each of enabled()) gauge.set({ upstream: each.name }, value(each));
    });
  }
  const help = '1 for the current health of an upstream.';
  make.gauge('svc_upstream_health', help, ['upstream', 'health'], (gauge) => {
    for (const { name, health: now } of enabled())
      for (const health of UPSTREAM_HEALTH) gauge.set({ upstream: name, health }, Number(health === now));
  });
}
