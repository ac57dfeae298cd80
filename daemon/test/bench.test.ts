import { describe, expect, it } from 'vitest';
import type { BenchResultView } from '../contract/bench.ts';
import type { ModelWithMemory } from '../contract/models.ts';
import type { SlotRecord } from '../contract/slots.ts';
import type { ExplainView } from '../contract/system.ts';
import { isFasterAhead } from '../models/ngram-speed.ts';
import { startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { runSlotAction } from './harness/slots.ts';
import { svcctl } from './harness/svcctl.ts';
import { startTiny } from './harness/tiny-gateway.ts';

const measure = (gateway: OneGateway, body: object = {}) =>
  send(gateway, 'POST', '/api/models/bench', { body, idleTimeoutMs: 120_000 });

describe('the measured speed of a model', () => {
  const gateway = new OneGateway(() => startTiny());

  it('is measured at three lengths of the prompt and replaces the estimate beside the fit badge', async () => {
    const answer = await measure(gateway);
    expect(answer.status, answer.text).toBe(200);
    const result = answer.json<BenchResultView>();
    expect(result).toMatchObject({ model: 'tiny', slot: 'agent', pool: 'host' });
    const [short = 0, middle = 0, long = 0] = result.points.map((point) => point.prompt_tokens);
    expect(result.points).toHaveLength(3);
    expect(short).toBeLessThan(middle);
    expect(middle).toBeLessThan(long);
    expect(result.points.every((point) => point.prompt_per_second > 0)).toBe(true);
    const speeds = result.points.map((point) => point.generated_per_second);
    // A loaded model has no fit badge.
    await runSlotAction(gateway, 'agent', 'unload');
    const { models } = (await send(gateway, 'GET', '/api/models')).json<{ models: ModelWithMemory[] }>();
    const speed = models.find(({ id }) => id === 'tiny')?.fit?.speed;
    expect(speed?.measured).toBe(true);
    const lowest = Math.min(...speeds);
    expect(speed?.low).toBeGreaterThan(0.98 * lowest);
    expect(speed?.low).toBeLessThan(1.02 * lowest);
  });

  it('measures what predictions gain, which decides the default and is explained', async () => {
    const answer = await measure(gateway);
    expect(answer.status, answer.text).toBe(200);
    const { ngram, device } = answer.json<BenchResultView>();
    expect(device).toBe('auto');
    const expected = ngram !== null && isFasterAhead(ngram) ? 'ngram' : 'off';
    await runSlotAction(gateway, 'agent', 'unload');
    const { slots } = (await send(gateway, 'GET', '/api/slots')).json<{ slots: SlotRecord[] }>();
    const { speculation } = slots.find(({ name }) => name === 'agent') ?? {};
    expect(speculation).toEqual({ way: expected, reason: expect.stringContaining('svcctl bench') });
    const body = { path: '/v1/chat/completions', model: 'agent' };
    const explained = (await send(gateway, 'POST', '/api/dispatch/explain', { body })).json<ExplainView>();
    expect(explained.speculation).toEqual(speculation);
  });

  it('svcctl bench prints it, and a second measurement is refused meanwhile', async () => {
    const first = measure(gateway, { model: 'tiny' });
    const second = await measure(gateway);
    expect([200, 409]).toContain(second.status);
    if (second.status === 409) expect(second.code).toBe('model.bench_running');
    const { status, text } = await first;
    expect(status, text).toBeOneOf([200, 409]);
    const { code, out, err } = await svcctl(['bench', 'tiny', '--url', gateway.url]);
    expect(code, err).toBe(0);
    expect(out).toContain('tiny in slot agent');
    // The tiny model may write too little for a measurement of predictions.
    expect([6, 10]).toContain(out.match(/tok\/s/g)?.length);
  });

  it.each([
    [{ model: 'no-such-model' }, 404, 'dispatch.no_route'],
    [{ model: '' }, 422, 'request.invalid'],
    [{ modell: 'tiny' }, 422, 'request.invalid'],
  ])('refuses %j', async (body, status, code) => {
    expect(await measure(gateway, body)).toMatchObject({ status, code });
  });
});

describe('without a usable model', () => {
  const gateway = new OneGateway(() =>
    startGateway({ files: { 'config/slots/agent.toml': 'enabled = false\n' } }),
  );

  it('says so, and can be called again', async () => {
    const first = await measure(gateway);
    expect(first.status).toBeGreaterThanOrEqual(404);
    expect((await measure(gateway)).code).toBe(first.code);
  });
});
