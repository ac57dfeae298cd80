/** Records of requests and usage, over a real port. */
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requestOutcome } from '../contract/request-outcome.ts';
import {
  type AuditRow,
  type RequestDetailView,
  type RequestRecord,
  type RequestsView,
  type RequestWholeView,
  UsageMinutesResponse,
  type UsageView,
} from '../contract/system.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { startGuarded, startLongStream } from './harness/tiny-gateway.ts';

const gateway = new OneGateway(startGuarded);
const { sendAsAdmin } = gateway;
const chat = (content: string, more: object = {}) => ({
  model: 'agent',
  messages: [{ role: 'user', content }],
  temperature: 0,
  max_tokens: 3,
  ...more,
});
const chatAs = (content: string, key = CLIENT_KEY) =>
  sendAsAdmin('POST', '/v1/chat/completions', { key, body: chat(content) });

interface Requests {
  running: RequestRecord[];
  recent: RequestRecord[];
}
const requests = async (query = '') => (await sendAsAdmin('GET', `/api/requests${query}`)).json<Requests>();

describe('requests', () => {
  it('contain times, tokens, tier, slot and step of a request, but no prompt or reply text', async () => {
    const response = await chatAs('swordfish');
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

  it('contain the routing details, and the requested name also when no model serves it', async () => {
    const response = await chatAs('x');
    const detailOf = async (id: unknown) =>
      (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestDetailView>();
    const served = await detailOf(response.headers['x-request-id']);
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

    const body = chat('x', { model: 'guessed-model' });
    const refused = await sendAsAdmin('POST', '/v1/chat/completions', { key: CLIENT_KEY, body });
    const unrouted = await detailOf(refused.headers['x-request-id']);
    expect(unrouted).toMatchObject({
      asked: 'guessed-model',
      model: null,
      slot: null,
      error: 'dispatch.no_route',
      story: { waits: null, overhead_ms: null },
    });
    expect(unrouted.story?.steps).toHaveLength(5);
    expect(unrouted.story?.steps.every(({ outcome, reason }) => outcome === 'failed' && reason !== '')).toBe(
      true,
    );
    expect((await requests('?state=done&limit=1')).recent[0]).toMatchObject({ asked: 'guessed-model' });
  });

  it('the overhead excludes the time of a slow sender', async () => {
    const headers = { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' };
    const id = await new Promise((resolve, reject) => {
      const to = { port: gateway.port, method: 'POST', path: '/v1/chat/completions', headers };
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

  it('a request that waited for a load records the wait', async () => {
    await sendAsAdmin('POST', '/api/slots/agent/unload');
    const response = await chatAs('x');
    const id = response.headers['x-request-id'];
    const { story } = (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestDetailView>();
    expect(story?.waits?.load_ms).toBeGreaterThan(0);
    expect(story?.steps.find(({ outcome }) => outcome === 'matched')?.step).toBe('registry');
  });

  it('contain bodies only while captureBodies is on, in memory only, and never a key', async () => {
    const capture = async (on: boolean) =>
      expect(
        (await sendAsAdmin('PUT', '/api/settings', { body: { values: { captureBodies: on } } })).status,
      ).toBe(200);
    const fullRecord = async (id: unknown) =>
      (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestWholeView>();
    await capture(true);
    const response = await chatAs(`marlin and ${CLIENT_KEY}`);
    const id = response.headers['x-request-id'];
    const { bodies } = await fullRecord(id);
    expect(bodies?.request).toContain('marlin and [hidden]');
    expect(JSON.parse(bodies?.answer ?? '')).toEqual(response.json());
    expect((await sendAsAdmin('GET', '/api/requests')).text).not.toContain('marlin');
    const file = (name: string) => readFileSync(join(gateway.home, 'state', name)).toString('latin1');
    for (const name of readdirSync(join(gateway.home, 'state')).filter((each) => each.includes('.db')))
      expect(file(name)).not.toContain('marlin');
    await capture(false);
    const later = await chatAs('marlin');
    expect((await fullRecord(later.headers['x-request-id'])).bodies).toBeNull();
  });

  it('are returned in pages, newest first', async () => {
    for (let i = 0; i < 4; i++) await chatAs('x');
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
    ['before=unknown', 'before'],
  ])('?%s is 422 and names %s', async (query, path) => {
    const response = await sendAsAdmin('GET', `/api/requests?${query}`);
    expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(response.json()).toMatchObject({ error: { details: { fields: [{ path }] } } });
  });

  it('a running one is listed and can be cancelled, with an audit row', async () => {
    const streamed = await startLongStream(gateway, 'agent', 30_000, CLIENT_KEY);
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

  it('an unknown one is 404', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const path = method === 'GET' ? '/api/requests/unknown' : '/api/requests/unknown/cancel';
      expect(await sendAsAdmin(method, path)).toMatchObject({ status: 404, code: 'request.not_found' });
    }
  });
});

describe('usage', () => {
  const usage = async (query = '', key = CLIENT_KEY) =>
    (await sendAsAdmin('GET', `/api/usage${query}`, { key })).json<UsageView>();
  /** Sums are written with the request log, shortly after the response. */
  const waitForSums = () =>
    until(async () => {
      const counted = (await usage()).days.reduce((sum, each) => sum + each.requests, 0);
      return counted === (await requests('?state=done&limit=1000')).recent.length;
    }, 'the sums to be written');
  const rowOf = ({ days }: UsageView, tier: string) =>
    days.find((each) => each.tier === tier && each.model === 'tiny') ?? { requests: 0, completion_tokens: 0 };

  it('sums requests and tokens by day, tier and model; rejected requests name no model', async () => {
    await waitForSums();
    const before = await usage();
    await chatAs('x');
    await chatAs('x');
    await chatAs('x', ADMIN_KEY);
    await sendAsAdmin('POST', '/v1/chat/completions', {
      key: CLIENT_KEY,
      body: chat('x', { model: 'guessed-model' }),
    });
    await waitForSums();
    const after = await usage();
    expect(rowOf(after, 'client').requests).toBe(rowOf(before, 'client').requests + 2);
    expect(rowOf(after, 'client').completion_tokens).toBeGreaterThan(
      rowOf(before, 'client').completion_tokens,
    );
    expect(rowOf(after, 'admin').requests).toBe(rowOf(before, 'admin').requests + 1);
    expect(JSON.stringify(after)).not.toContain('guessed-model');
    expect(after.truncated).toBe(false);
  });

  it('of the last hour is returned per minute, the current one last', async () => {
    const minutes = async () =>
      UsageMinutesResponse.parse((await sendAsAdmin('GET', '/api/usage/minutes', { key: CLIENT_KEY })).json())
        .minutes;
    const all = async () => (await minutes()).reduce((sum, { requests }) => sum + requests, 0);
    const before = await all();
    await chatAs('x');
    await until(async () => (await all()) === before + 1, 'the minute to be counted');
    const last = (await minutes()).filter(({ requests }) => requests > 0).at(-1);
    expect(last).toMatchObject({ ttft_ms: expect.any(Number), completion_tokens: expect.any(Number) });
  });

  it('covers the requested number of days, including today', async () => {
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

  it('needs a key while enforcement is on', async () => {
    expect((await send(gateway, 'GET', '/api/usage')).code).toBe('auth.required');
  });
});

describe('callers and refusals', () => {
  const UA = { 'user-agent': 'OpenAI/Python 2.4.0', 'x-title': 'Kitchen' };

  it('a request has its app, User-Agent and class of address', async () => {
    const response = await sendAsAdmin('POST', '/v1/chat/completions', { body: chat('x'), headers: UA });
    const id = String(response.headers['x-request-id']);
    const record = (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestRecord>();
    expect(record).toMatchObject({
      app: 'Kitchen',
      user_agent: 'OpenAI/Python 2.4.0',
      address: 'loopback',
      message: null,
    });
  });

  it('the caller of a chat with built-in tools is that of the whole call', async () => {
    const body = chat('x', { omni: true });
    const response = await sendAsAdmin('POST', '/v1/chat/completions', { body, headers: UA });
    const id = String(response.headers['x-request-id']);
    const record = (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestRecord>();
    expect(record.user_agent).toBe('OpenAI/Python 2.4.0');
  });

  it('a failed request has the message that was sent instead of that of the code', async () => {
    const body = { ...chat('x'), model: 'no-such-model' };
    const response = await sendAsAdmin('POST', '/v1/chat/completions', { body });
    const id = String(response.headers['x-request-id']);
    const { message } = response.json<{ error: { message: string } }>().error;
    const record = (await sendAsAdmin('GET', `/api/requests/${id}`)).json<RequestRecord>();
    expect(record).toMatchObject({ status: 404, error: 'dispatch.no_route', message });
    expect(message).toContain('no-such-model');
  });

  it.each([
    ['no key', '/v1/chat/completions', undefined, {}, 401, /A key is required/],
    ['a wrong key', '/v1/messages', 'wrong', {}, 401, /This key is not valid here/],
    [
      'a foreign page',
      '/v1/embeddings',
      CLIENT_KEY,
      { origin: 'http://evil.test' },
      403,
      /http:\/\/evil\.test/,
    ],
  ])('a request with %s is a row', async (_, path, key, headers, status, message) => {
    const response = await send(gateway, 'POST', path, {
      ...(key === undefined ? {} : { key }),
      body: chat('x'),
      headers: { ...UA, ...headers },
    });
    expect(response.status).toBe(status);
    const id = String(response.headers['x-request-id']);
    const view = (await sendAsAdmin('GET', '/api/requests')).json<RequestsView>();
    expect(view.recent.map((row) => row.id)).not.toContain(id);
    expect(view.refused.find((row) => row.id === id)).toMatchObject({
      route: path,
      status,
      message: expect.stringMatching(message),
      app: 'Kitchen',
      user_agent: 'OpenAI/Python 2.4.0',
      address: 'loopback',
    });
    const one = await sendAsAdmin('GET', `/api/requests/${id}`);
    expect(one.json<RequestWholeView>()).toMatchObject({ id, status, story: null, bodies: null });
  });

  it('the dashboard without a session is no row', async () => {
    const before = (await sendAsAdmin('GET', '/api/requests')).json<RequestsView>().refused.length;
    expect((await send(gateway, 'GET', '/api/status')).status).toBe(401);
    expect((await sendAsAdmin('GET', '/api/requests')).json<RequestsView>().refused).toHaveLength(before);
  });

  it('one rule counts for the list and the minutes', async () => {
    const { minutes } = UsageMinutesResponse.parse((await sendAsAdmin('GET', '/api/usage/minutes')).json());
    const { recent, refused } = (await sendAsAdmin('GET', '/api/requests?limit=1000')).json<RequestsView>();
    const rows = [...recent, ...refused];
    const count = (outcome: string) => rows.filter((row) => requestOutcome(row) === outcome).length;
    const sum = (name: 'requests' | 'failed' | 'refused') =>
      minutes.reduce((all, minute) => all + minute[name], 0);
    expect([sum('requests'), sum('failed'), sum('refused')]).toEqual([
      rows.length,
      count('failed'),
      count('refused'),
    ]);
  });
});
