/** Two real gateways over ports: what is passed on from the one with the models to the one that apps use. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../contract/models.ts';
import type { ExplainView, RequestRecord, RequestsView } from '../contract/system.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, startGateway, until } from './harness/gateway.ts';
import { newHome, putModel } from './harness/home.ts';
import { send } from './harness/http.ts';
import { waitForSlotState } from './harness/slots.ts';

const DESK_ADMIN = `${ADMIN_KEY}-desk`;
const DESK_CLIENT = `${CLIENT_KEY}-desk`;
const MESSAGES = [{ role: 'user', content: 'How many tokens are these words?' }];
const COUNT = '/v1/messages/count_tokens';

let desk: Gateway;
const deskHome = newHome();
const front = new Front();
const file = (more = '') => `base_url = "${desk.url}/v1"\nkind = "svc"\nkey_env = "UPSTREAM_DESK"\n${more}`;
const atDesk = (method: string, path: string, body?: object) =>
  send(desk, method, path, { key: DESK_ADMIN, ...(body && { body }) });
const deskRequests = async (): Promise<RequestRecord[]> => {
  const { running, recent } = (await atDesk('GET', '/api/requests')).json<RequestsView>();
  return [...running, ...recent];
};

beforeAll(async () => {
  putModel(deskHome, 'desk-chat', tinyChat({ reply: 'the desk speaks' }));
  putModel(deskHome, 'desk-other', tinyChat({ reply: 'the other one speaks' }));
  desk = await startGateway({
    home: deskHome,
    env: { SVC_REQUIRE_AUTH: 'on' },
    files: {
      'config/api.env': `SVC_ADMIN_KEY=${DESK_ADMIN}\nSVC_CLIENT_KEY=${DESK_CLIENT}\n`,
      'config/slots/agent.toml': 'model = "desk-chat"\ncontext = 1024\n',
    },
  });
  await waitForSlotState(desk, 'agent', 'ready', DESK_ADMIN);
  await front.start({ UPSTREAM_DESK: DESK_CLIENT }, { 'config/upstreams/desk.toml': file() });
  await until(async () => (await front.upstream('desk')).health === 'ok', 'the list of the desk');
});
afterAll(async () => {
  await Promise.all([front.close(), desk?.stop()]);
  rmSync(deskHome, { recursive: true, force: true });
});

describe('a model of another gateway', () => {
  it('is listed with the capabilities, inputs and window that it has there', async () => {
    const there = (await atDesk('GET', '/v1/models/desk-chat')).json<V1ModelRecord>();
    const here = (await front.send('GET', '/v1/models/desk-chat')).json<V1ModelRecord>();
    expect(Object.keys(there.capabilities).length).toBeGreaterThan(1);
    const facts = ({ capabilities, architecture, context_length, max_model_len }: V1ModelRecord) => ({
      ...{ capabilities, architecture, context_length, max_model_len },
    });
    expect(facts(here)).toEqual(facts(there));
    expect(here.context_length).toBe(1024);
  });

  it('has its tokens counted there, by the same numbers', async () => {
    const body = { model: 'desk-chat', messages: MESSAGES };
    const there = await atDesk('POST', COUNT, body);
    const here = await front.send('POST', COUNT, { body });
    expect([here.status, here.json()]).toEqual([200, there.json()]);
    expect(here.json<{ input_tokens: number }>().input_tokens).toBeGreaterThan(5);
    const direct = await front.send('POST', `${CHAT}/input_tokens`, { body });
    expect(direct.json()).toMatchObject(there.json());
  });

  it('is explained as the other gateway would route it', async () => {
    const explain = async (model: string) =>
      (
        await front.send('POST', '/api/dispatch/explain', { body: { path: CHAT, model } })
      ).json<ExplainView>();
    expect(await explain('desk-chat')).toMatchObject({
      upstream: 'desk',
      beyond: { failure: null, answer: { slot: 'agent', would_load: false, error: null } },
    });
    const { slot: here } = await explain('agent');
    expect(here).toBe('agent');
    await front.add('stranger', `base_url = "${desk.url}/v1"\nkind = "svc"\nmodels = ["only-here"]\n`);
    expect((await explain('only-here')).beyond).toEqual({
      answer: null,
      failure: 'It answered with status 401.',
    });
  });
});

describe('the name of the calling app', () => {
  const call = () =>
    front.send('POST', CHAT, {
      body: chat('desk-chat'),
      headers: { 'user-agent': 'claude-cli/2.1 (external)' },
    });
  const nameThere = async () => (await deskRequests())[0]?.app ?? null;

  it('stays here without the opt-in, and is sent with it', async () => {
    await call();
    expect(await nameThere()).toBeNull();
    await front.send('PUT', '/api/upstreams/desk', { body: { send_app_name: true } });
    await until(async () => {
      await call();
      return (await nameThere()) === 'Claude Code';
    }, 'the name of the app');
  });
});

it('a loaded model is preferred to one that would have to load', async () => {
  const other = newHome();
  putModel(other, 'desk-chat', tinyChat({ reply: 'den' }));
  const den = await startGateway({
    home: other,
    env: { SVC_REQUIRE_AUTH: 'off' },
    files: { 'config/slots/agent.toml': 'model = "desk-chat"\nautoload = false\n' },
  });
  try {
    // By name and turn it would be the first one.
    await front.add('a-den', `base_url = "${den.url}/v1"\nkind = "svc"\n`);
    await until(async () => (await front.upstream('a-den')).models === 1, 'the list of the den');
    for (let round = 0; round < 3; round++)
      expect((await front.send('POST', CHAT, { body: chat('desk-chat') })).headers).toMatchObject({
        'x-svc-upstream': 'desk',
        'x-svc-balance': 'loaded',
      });
    const explained = await front.send('POST', '/api/dispatch/explain', {
      body: { path: CHAT, model: 'desk-chat' },
    });
    expect(explained.json<ExplainView>().balance).toMatchObject({
      rule: 'loaded',
      upstreams: expect.arrayContaining([
        expect.objectContaining({ name: 'a-den', loaded: false }),
        expect.objectContaining({ name: 'desk', loaded: true }),
      ]),
    });
  } finally {
    await den.stop();
    den.remove();
  }
});
