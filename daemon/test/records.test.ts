/** What the gateway keeps about requests and usage, over a real port. */
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type AuditRow,
  type RequestDetailView,
  type RequestRecord,
  type RequestWholeView,
  UsageMinutesResponse,
  type UsageView,
} from '../contract/system.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { startGuarded, startLongStream } from './harness/tiny-gateway.ts';

const here = new OneGateway(startGuarded);
const { sendAsAdmin } = here;
const chat = (content: string, more: object = {}) => ({
  model: 'agent',
  messages: [{ role: 'user', content }],
  temperature: 0,
  max_tokens: 3,
  ...more,
});
const talk = (content: string, key = CLIENT_KEY) =>
  sendAsAdmin('POST', '/v1/chat/completions', { key, body: chat(content) });

interface Requests {
  running: RequestRecord[];
  recent: RequestRecord[];
}
const requests = async (query = '') => (await sendAsAdmin('GET', `/api/requests${query}`)).json<Requests>();

describe('requests', () => {
  it('hold times, tokens, tier, slot and step of an answered one, and nothing of what was said', async () => {
    const response = await talk('swordfish');
    const id = String(response.headers['x-request-id']);
    const { usage } = response.json<{ usage: { prompt_tokens: number; completion_tokens: number } }>();
    const record = (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestRecord>();
    expect(record).toMatchObject({
      id,
      route: '/v1/chat/completions',
      tier: 'client',
      model: 'tiny',
      slot: 'agent',
      upstream: null,
      step: expect.any(String),
      state: 'done',
      status: 200,
      error: null,
      prompt_tokens: usage.prompt_tokens,
      completion_tokens: usage.completion_tokens,
    });
    expect(record.ttft_ms).toBeGreaterThan(0);
    expect(record.duration_ms).toBeGreaterThanOrEqual(record.ttft_ms as number);
    expect((await sendAsAdmin('GET', '/api/requests')).text).not.toContain('swordfish');
  });

  it('hold what really happened on the way, and the name that was asked for also where nobody serves it', async () => {
    const response = await talk('x');
    const story = async (id: unknown) =>
      (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestDetailView>();
    const served = await story(response.headers['x-request-id']);
    expect(served).toMatchObject({
      asked: 'agent',
      model: 'tiny',
      story: { rule: 'slot-alias', lane: 'agent', before: [], degraded: null },
    });
    expect(served.story?.steps.map(({ step, outcome }) => [step, outcome])).toEqual([
      ['loaded-slot', 'matched'],
      ['registry', 'skipped'],
      ['upstream-cached', 'skipped'],
      ['upstream-live', 'skipped'],
      ['capability-path', 'skipped'],
    ]);
    expect(served.story?.waits).toMatchObject({ memory_ms: 0, load_ms: 0 });
    expect(String(served.story?.overhead_ms)).toMatch(/^\d+(\.\d)?$/);

    const body = chat('x', { model: 'guess-nobody-has' });
    const refused = await sendAsAdmin('POST', '/v1/chat/completions', { key: CLIENT_KEY, body });
    const unrouted = await story(refused.headers['x-request-id']);
    expect(unrouted).toMatchObject({
      asked: 'guess-nobody-has',
      model: null,
      slot: null,
      error: 'dispatch.no_route',
      story: { waits: null, overhead_ms: null },
    });
    expect(unrouted.story?.steps).toHaveLength(5);
    expect(unrouted.story?.steps.every(({ outcome, reason }) => outcome === 'failed' && reason !== '')).toBe(
      true,
    );
    expect((await requests('?state=done&limit=1')).recent[0]).toMatchObject({ asked: 'guess-nobody-has' });
  });

  it("the gateway's own time is without that of a caller who sends slowly", async () => {
    const headers = { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' };
    const id = await new Promise((resolve, reject) => {
      const to = { port: here.port, method: 'POST', path: '/v1/chat/completions', headers };
      const req = request(to, (res) => res.resume().once('end', () => resolve(res.headers['x-request-id'])));
      req.once('error', reject);
      const text = JSON.stringify(chat('x'));
      req.write(text.slice(0, 5));
      setTimeout(() => req.end(text.slice(5)), 1_000);
    });
    const record = (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestDetailView>();
    expect(record.duration_ms).toBeGreaterThan(500);
    expect(record.story?.overhead_ms).toBeLessThan(Number(record.duration_ms) / 2);
  });

  it('a request that waited for a load says for how long', async () => {
    await sendAsAdmin('POST', '/api/slots/agent/unload');
    const response = await talk('x');
    const id = response.headers['x-request-id'];
    const { story } = (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestDetailView>();
    expect(story?.waits?.load_ms).toBeGreaterThan(0);
    expect(story?.steps.find(({ outcome }) => outcome === 'matched')?.step).toBe('registry');
  });

  it('hold what was said only while the setting says so, in memory alone, and never a key', async () => {
    const capture = async (on: boolean) =>
      expect(
        (await sendAsAdmin('PUT', '/api/settings', { body: { values: { captureBodies: on } } })).status,
      ).toBe(200);
    const whole = async (id: unknown) =>
      (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestWholeView>();
    await capture(true);
    const response = await talk(`marlin and ${CLIENT_KEY}`);
    const id = response.headers['x-request-id'];
    const { bodies } = await whole(id);
    expect(bodies?.request).toContain('marlin and [hidden]');
    expect(JSON.parse(bodies?.answer ?? '')).toEqual(response.json());
    expect((await sendAsAdmin('GET', '/api/requests')).text).not.toContain('marlin');
    const file = (name: string) => readFileSync(join(here.home, 'state', name)).toString('latin1');
    for (const name of readdirSync(join(here.home, 'state')).filter((each) => each.includes('.db')))
      expect(file(name)).not.toContain('marlin');
    await capture(false);
    const later = await talk('marlin');
    expect((await whole(later.headers['x-request-id'])).bodies).toBeNull();
  });

  it('are given page by page, newest first', async () => {
    for (let i = 0; i < 4; i++) await talk('x');
    const all = (await requests('?state=done')).recent.map(({ id }) => id);
    const first = await requests('?state=done&limit=2');
    const second = await requests(`?limit=2&before=${first.recent[1]?.id}`);
    expect([...first.recent, ...second.recent].map(({ id }) => id)).toEqual(all.slice(0, 4));
    expect(second.running).toEqual([]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['state=ended', 'state'],
    ['before=nobody', 'before'],
  ])('?%s is 422 and names %s', async (query, path) => {
    const response = await sendAsAdmin('GET', `/api/requests?${query}`);
    expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(response.json()).toMatchObject({ error: { details: { fields: [{ path }] } } });
  });

  it('a running one is listed as such and can be ended, which is in the audit trail', async () => {
    const streamed = await startLongStream(here, 'agent', 30_000, CLIENT_KEY);
    const { running, recent } = await requests('?state=running');
    expect(recent).toEqual([]);
    expect(running).toMatchObject([{ state: 'running', slot: 'agent', status: null, duration_ms: null }]);
    const id = running[0]?.id;
    const cancelled = await sendAsAdmin('POST', `/api/requests/${id}/cancel`);
    expect(cancelled.json()).toMatchObject({ id, state: 'done', error: 'request.cancelled' });
    await streamed.ended;
    expect(streamed.text()).toContain('request.cancelled');
    await until(async () => (await requests('?state=running')).running.length === 0, 'the request to end');
    const again = await sendAsAdmin('POST', `/api/requests/${id}/cancel`);
    expect(again.json()).toMatchObject({ id, state: 'done', error: 'request.cancelled' });
    const { entries } = (await sendAsAdmin('GET', '/api/audit')).json<{ entries: AuditRow[] }>();
    const cancels = entries.filter(({ action }) => action === 'request.cancel');
    expect(cancels).toMatchObject([{ tier: 'admin', address: '127.0.0.1', details: { request: id } }]);
  });

  it('one that is not there is 404', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const path = method === 'GET' ? '/api/requests/nobody' : '/api/requests/nobody/cancel';
      expect(await sendAsAdmin(method, path)).toMatchObject({ status: 404, code: 'request.not_found' });
    }
  });
});

describe('usage', () => {
  const usage = async (query = '', key = CLIENT_KEY) =>
    (await sendAsAdmin('GET', `/api/usage${query}`, { key })).json<UsageView>();
  /** Sums are written with the request log, a moment after the answer. */
  const settled = () =>
    until(async () => {
      const counted = (await usage()).days.reduce((sum, each) => sum + each.requests, 0);
      return counted === (await requests('?state=done&limit=1000')).recent.length;
    }, 'the sums to be written');
  const rowOf = ({ days }: UsageView, tier: string) =>
    days.find((each) => each.tier === tier && each.model === 'tiny') ?? { requests: 0, completion_tokens: 0 };

  it('sums requests and tokens by day, tier and model; refused ones name no model', async () => {
    await settled();
    const before = await usage();
    await talk('x');
    await talk('x');
    await talk('x', ADMIN_KEY);
    await sendAsAdmin('POST', '/v1/chat/completions', {
      key: CLIENT_KEY,
      body: chat('x', { model: 'guess-nobody-has' }),
    });
    await settled();
    const after = await usage();
    expect(rowOf(after, 'client').requests).toBe(rowOf(before, 'client').requests + 2);
    expect(rowOf(after, 'client').completion_tokens).toBeGreaterThan(
      rowOf(before, 'client').completion_tokens,
    );
    expect(rowOf(after, 'admin').requests).toBe(rowOf(before, 'admin').requests + 1);
    expect(JSON.stringify(after)).not.toContain('guess-nobody-has');
    expect(after.truncated).toBe(false);
  });

  it('of the last hour is told minute by minute, the running one last', async () => {
    const minutes = async () =>
      UsageMinutesResponse.parse((await sendAsAdmin('GET', '/api/usage/minutes', { key: CLIENT_KEY })).json())
        .minutes;
    const all = async () => (await minutes()).reduce((sum, { requests }) => sum + requests, 0);
    const before = await all();
    await talk('x');
    await until(async () => (await all()) === before + 1, 'the minute to be counted');
    const last = (await minutes()).filter(({ requests }) => requests > 0).at(-1);
    expect(last).toMatchObject({ ttft_ms: expect.any(Number), completion_tokens: expect.any(Number) });
  });

  it('goes back as many days as asked, today included', async () => {
    const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10);
    expect(days(0) >= (await usage('?days=1')).since).toBe(true);
    expect(days(29) >= (await usage()).since).toBe(true);
    for (const query of ['?days=0', '?days=367', '?days=all']) {
      expect(await sendAsAdmin('GET', `/api/usage${query}`)).toMatchObject({
        status: 422,
        code: 'request.invalid',
      });
    }
  });

  it('needs a key while keys are required', async () => {
    expect((await send(here, 'GET', '/api/usage')).code).toBe('auth.required');
  });
});
