/**
 * The shipped Grafana dashboard, alert rules and scrape configuration in a real Prometheus that scrapes a gateway, and
 * checked by promtool.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exerciseEveryMetric } from '../../../daemon/test/harness/every-series.ts';
import { CLIENT_KEY, until } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { type Prometheus, promtool, startPrometheus } from '../../../daemon/test/harness/prometheus.ts';
import { selectorsOf } from '../../../daemon/test/harness/promql.ts';
import { ALERTS, QUERIES } from '../../../daemon/test/harness/shipped-files.ts';
import { provider, type StandIn, standIn } from '../../../daemon/test/harness/stand-in.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';
import { startGuarded } from '../../../daemon/test/harness/tiny-gateway.ts';

const program = part('prometheus');

let far: StandIn;
beforeAll(async () => {
  far = await standIn(provider('far-model'));
});
afterAll(() => far?.stop());
const gateway = new OneGateway(() =>
  startGuarded({
    files: {
      'config/upstreams/far.toml': `base_url = "${far.url}"\n`,
      'config/slots/asleep.toml': 'model = "tiny"\nautoload = false\n',
    },
  }),
);
beforeAll(async () => {
  const models = () => send(gateway, 'GET', '/v1/models', { key: CLIENT_KEY });
  await until(async () => (await models()).text.includes('far-model'), 'the models of the upstream');
  await exerciseEveryMetric(gateway, far);
});

describe.skipIf(program === null)('Prometheus', () => {
  const path = program as string;
  let prometheus: Prometheus;
  beforeAll(async () => {
    prometheus = await startPrometheus(path, gateway.port);
    const scraped = (least: number) =>
      until(async () => {
        const [sample] = await prometheus.query('count_over_time(up{job="svc-gateway"}[1m])');
        return Number(sample?.value[1] ?? 0) >= least;
      }, `${least} scrapes`);
    await scraped(2);
    await exerciseEveryMetric(gateway, far);
    await scraped(6);
  });
  afterAll(() => prometheus?.stop());

  it.each(QUERIES)('%s: %s', async (_, expr) => {
    const found = await prometheus.query(expr);
    const absent: string[] = [];
    for (const { text } of selectorsOf(expr)) {
      if ((await prometheus.query(text)).length === 0) absent.push(text);
    }
    if (absent.length === 0) expect(found.length).toBeGreaterThan(0);
    else for (const text of absent) expect(text).toMatch(/^svc_device_(busy|power|temperature)_/);
  });

  it.each(ALERTS)('%s uses existing series', async (_, expr) => {
    await prometheus.query(expr);
    for (const { text } of selectorsOf(expr)) expect(await prometheus.query(text), text).not.toEqual([]);
  });

  it('evaluates every rule, and an idle gateway raises no alert', async () => {
    await until(async () => {
      const rules = await prometheus.rules();
      return rules.length === ALERTS.length && rules.every(({ health }) => health !== 'unknown');
    }, 'the rules to be evaluated');
    for (const rule of await prometheus.rules()) expect(rule).toMatchObject({ health: 'ok' });
    expect(await prometheus.query('ALERTS{alertname="SvcGatewayDown"}')).toEqual([]);
  });

  it('promtool accepts the rules, their tests and the example', async () => {
    expect(await promtool(path, 'check', 'rules', 'alerts.yml')).toContain(`${ALERTS.length} rules found`);
    expect(await promtool(path, 'test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
    expect(await promtool(path, 'check', 'config', 'scrape.yml')).toContain('SUCCESS');
  });
});
