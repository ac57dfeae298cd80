/**
 * Metrics, the files shipped for Prometheus and Grafana, and traces, over real ports (docs/spec/contract.md#metrics).
 * e2e/system/engines/prometheus.test.ts runs the shipped queries and rules in a real Prometheus.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { body, CHAT, exerciseEveryMetric, PROMPT_TEXT } from './harness/every-series.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { type SendOptions, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { attributeOf, type Collector, otlpCollector } from './harness/otlp-collector.ts';
import { expositionOf, groupingsOf, selectorsOf } from './harness/promql.ts';
import { ALERTS, QUERIES } from './harness/shipped-files.ts';
import { slot } from './harness/slots.ts';
import { provider, type StandIn, standIn } from './harness/stand-in.ts';
import { startGuarded } from './harness/tiny-gateway.ts';

const HEADER_SECRET = 'collector-token-7f3a91c2';

let collector: Collector;
let far: StandIn;

const sendAsClient = (method: string, path: string, options: SendOptions = {}) =>
  send(gateway, method, path, { key: CLIENT_KEY, ...options });
const exposition = async () => (await send(gateway, 'GET', '/api/metrics/prometheus')).text;

beforeAll(async () => {
  collector = await otlpCollector();
  far = await standIn(provider('far-model'));
});
afterAll(async () => {
  await collector?.server.stop();
  await far?.stop();
});
const gateway = new OneGateway(() =>
  startGuarded({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.server.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${HEADER_SECRET}`,
      OTEL_SERVICE_NAME: 'gateway-under-test',
    },
    files: {
      'config/upstreams/far.toml': `base_url = "${far.url}"\n`,
      'config/slots/asleep.toml': 'model = "tiny"\nautoload = false\n',
    },
  }),
);
beforeAll(async () => {
  await until(
    async () => (await sendAsClient('GET', '/v1/models')).text.includes('far-model'),
    'the models of the upstream',
  );
  await exerciseEveryMetric(gateway, far);
});

/** Labels that Prometheus adds to every series. */
const OF_PROMETHEUS = ['instance', 'job', 'le'];
/** Labels of devices that not every machine has. */
const OF_DEVICES = ['device'];

describe('shipped files', () => {
  it('include a dashboard and alerts', () => {
    expect(QUERIES.length).toBeGreaterThan(30);
    expect(ALERTS.length).toBeGreaterThan(10);
  });

  let metrics: Map<string, Set<string>>;
  beforeAll(async () => {
    metrics = expositionOf(await exposition());
  });

  it.each([...QUERIES, ...ALERTS])('%s uses existing metrics and labels', (_, expr) => {
    const selectors = selectorsOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    const labels = new Set(OF_PROMETHEUS);
    for (const { name } of selectors) {
      if (name === 'up') continue;
      expect([...metrics.keys()]).toContain(name);
      const own = metrics.get(name) ?? new Set();
      for (const label of own.size === 0 ? OF_DEVICES : own) labels.add(label);
    }
    const used = [...selectors.flatMap((each) => each.labels), ...groupingsOf(expr)];
    for (const label of used) expect([...labels], `${label} in ${expr}`).toContain(label);
  });
});

describe('the metrics', () => {
  it('count requests by route template, slot and upstream', async () => {
    const text = await exposition();
    for (const line of [
      /^svc_requests_total\{slot="agent",route="\/v1\/chat\/completions",status="200"\} [2-9]/m,
      /^svc_requests_total\{upstream="far",route="\/v1\/chat\/completions",status="200"\} \d/m,
      /^svc_requests_total\{upstream="far",route="\/v1\/chat\/completions",status="5\d\d"\} \d/m,
      /^svc_requests_total\{route="\/v1\/chat\/completions",status="404"\} \d/m,
      /^svc_tokens_total\{slot="agent",direction="out"\} [1-9]/m,
      /^svc_queue_wait_seconds_count\{slot="agent"\} [2-9]/m,
      /^svc_slot_loads_total\{slot="agent",outcome="ready"\} 1$/m,
      /^svc_slot_load_seconds_count\{slot="agent"\} 1$/m,
      /^svc_device_memory_bytes\{device="host",kind="total"\} \d{9,}/m,
      /^svc_auth_refusals_total\{code="auth\.required"\} [1-9]/m,
      /^svc_upstream_up\{upstream="far"\} 1$/m,
      /^svc_store_ok 1$/m,
    ])
      expect(text).toMatch(line);
  });

  it('contain no key, address or path, and no name of a caller or a model file', async () => {
    const text = await exposition();
    const hidden = [ADMIN_KEY, CLIENT_KEY, HEADER_SECRET, PROMPT_TEXT, '127.0.0.1', gateway.home];
    for (const secret of [...hidden, 'unknown-model', 'far-model', '"tiny"'])
      expect(text).not.toContain(secret);
  });

  it('load nothing when they are read', async () => {
    for (let i = 0; i < 5; i++) await exposition();
    expect((await slot(gateway, 'asleep', ADMIN_KEY)).state).toBe('offline');
  });
});

describe('traces', () => {
  const TRACE = '0af7651916cd43dd8448eb211c80319c';
  const PARENT = 'b7ad6b7169203331';
  const traced = (id: string, model: string, more: object = {}) =>
    sendAsClient('POST', CHAT, {
      headers: { traceparent: `00-${id}-${PARENT}-01` },
      body: body(model, more),
    });
  const arrived = (id: string, name: string) =>
    until(() => collector.trace(id).has(name), `span ${name} at the collector`);

  it('have a request span below its caller with its stages, and no prompt text', async () => {
    const response = await traced(TRACE, 'agent');
    await arrived(TRACE, 'stream');
    const spans = collector.trace(TRACE);
    const root = spans.get(`POST ${CHAT}`);
    expect(root).toMatchObject({ parentSpanId: PARENT, kind: 2 });
    expect(attributeOf(root as never, 'http.response.status_code')).toBe('200');
    expect(attributeOf(root as never, 'svc.request_id')).toBe(response.headers['x-request-id']);
    expect(attributeOf(root as never, 'svc.slot')).toBe('agent');
    expect(Number(attributeOf(root as never, 'gen_ai.usage.output_tokens'))).toBeGreaterThan(0);
    const call = spans.get('call');
    expect(call).toMatchObject({ parentSpanId: root?.spanId, kind: 3 });
    for (const stage of ['prefill', 'stream'])
      expect(spans.get(stage)).toMatchObject({ parentSpanId: call?.spanId });
    expect(collector.server.text()).not.toContain(PROMPT_TEXT);
    expect(collector.server.requests[0]?.headers.authorization).toBe(`Bearer ${HEADER_SECRET}`);
    expect(collector.server.text()).toContain('"service.name');
  });

  it('a slot that must load first has a wait and a load span', async () => {
    const id = TRACE.replace(/^0a/, '1a');
    await traced(id, 'svc/asleep');
    await arrived(id, 'load');
    const spans = collector.trace(id);
    expect(spans.get('load')).toMatchObject({ parentSpanId: spans.get('wait')?.spanId });
    expect(attributeOf(spans.get(`POST ${CHAT}`) as never, 'svc.slot')).toBe('asleep');
  });

  it('an upstream of the own network receives our span, never the header of the caller', async () => {
    const id = TRACE.replace(/^0a/, '2a');
    await traced(id, 'far-model');
    await arrived(id, 'call');
    const forwarded = far.requests.findLast(({ url }) => url.includes('/chat/'));
    expect(forwarded?.headers.traceparent).toBe(`00-${id}-${collector.trace(id).get('call')?.spanId}-01`);
  });

  it('an unsampled trace is not recorded, and an invalid header starts a new trace', async () => {
    const id = TRACE.replace(/^0a/, '3a');
    const headers = { traceparent: `00-${id}-${PARENT}-00` };
    await sendAsClient('POST', CHAT, { headers, body: body('agent') });
    const before = collector.spans().length;
    const invalid = await sendAsClient('POST', CHAT, {
      headers: { traceparent: 'nonsense' },
      body: body('agent'),
    });
    const newRoot = () =>
      collector
        .spans()
        .slice(before)
        .find((each) => attributeOf(each, 'svc.request_id') === invalid.headers['x-request-id']);
    await until(() => newRoot() !== undefined, 'the new trace');
    expect(newRoot()).not.toHaveProperty('parentSpanId');
    expect(collector.trace(id).size).toBe(0);
  });

  it('a collector that is down fails no request, and receives the queued spans once it is back', async () => {
    const id = TRACE.replace(/^0a/, '4a');
    await collector.server.stop();
    expect((await traced(id, 'agent')).status).toBe(200);
    await gateway.waitFor('traces cannot be sent to the collector');
    expect((await sendAsClient('POST', CHAT, { body: body('agent') })).status).toBe(200);
    await collector.server.start();
    await arrived(id, 'call');
    await gateway.waitFor('traces are sent to the collector again');
    expect(await exposition()).toMatch(/^svc_trace_spans_total\{outcome="dropped"\} 0$/m);
    expect(gateway.output()).not.toContain(HEADER_SECRET);
  });

  it('a gateway that stops sends the queued spans', async () => {
    const id = TRACE.replace(/^0a/, '5a');
    await traced(id, 'agent');
    expect(await gateway.stop()).toBe(0);
    expect(collector.trace(id).has('call')).toBe(true);
  });
});
