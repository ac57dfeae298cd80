/** A second real gateway behind the first, over real ports: forwarding, its death, and loops. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamRecord } from '../contract/upstreams.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, startGateway, until } from './harness/gateway.ts';
import { newHome, putModel } from './harness/home.ts';
import { send } from './harness/http.ts';
import { openaiClient } from './harness/openai.ts';
import { waitForSlotState } from './harness/slots.ts';
import { contentOf, dataOf, openStream } from './harness/stream.ts';

const DESK_ADMIN = `${ADMIN_KEY}-desk`;
const DESK_CLIENT = `${CLIENT_KEY}-desk`;

/** The gateway with the models. */
let desk: Gateway;
const deskHome = newHome();
/** The gateway that clients use. */
const front = new Front();

const speaker = (reply: string) => tinyChat({ reply });

const startDesk = (port = '0') =>
  startGateway({
    home: deskHome,
    env: { SVC_REQUIRE_AUTH: 'on', SVC_PORT: port },
    files: {
      'config/api.env': `SVC_ADMIN_KEY=${DESK_ADMIN}\nSVC_CLIENT_KEY=${DESK_CLIENT}\n`,
      'config/slots/agent.toml': 'model = "desk-chat"\ncontext = 1024\n',
    },
  });

beforeAll(async () => {
  putModel(deskHome, 'both', speaker('there it speaks'));
  putModel(deskHome, 'desk-chat', speaker('the desk speaks'));
  putModel(deskHome, 'desk-vectors', tinyEmbed({ size: 32 }));
  putModel(front.home, 'both', speaker('here it speaks'));
  desk = await startDesk();
  await waitForSlotState(desk, 'agent', 'ready', DESK_ADMIN);
  const file = `base_url = "${desk.url}/v1"\nkind = "svc"\nkey_env = "UPSTREAM_DESK"\n`;
  await front.start({ UPSTREAM_DESK: DESK_CLIENT }, { 'config/upstreams/desk.toml': file });
});

afterAll(async () => {
  await Promise.all([front.close(), desk?.stop()]);
  rmSync(deskHome, { recursive: true, force: true });
});

describe('a second gateway behind the first', () => {
  it('its own models are listed under its name, and neither its aliases nor its virtual names', async () => {
    await until(async () => (await front.upstream('desk')).health === 'ok', 'the list of the desk');
    const records = (await front.listModels()).filter(({ owned_by }) => owned_by === 'desk');
    expect(records.map(({ id }) => id).sort()).toEqual(['desk-chat', 'desk-vectors']);
    expect((await front.listModels()).filter(({ id }) => id === 'both')).toMatchObject([{ owned_by: 'svc' }]);
    expect(records.find(({ id }) => id === 'desk-vectors')).toMatchObject({
      capabilities: { embeddings: true },
      _svc: { slot: null, state: 'ready' },
    });
    expect(records.find(({ id }) => id === 'desk-chat')?.context_length).toBe(1024);
  });

  it('owners are filtered by header and query: comma lists, exact except for case; with both, both must match', async () => {
    const owners = async (query: string, header?: string) => {
      const filter = header === undefined ? {} : { headers: { 'X-svc-Model-Filter': header } };
      const response = await send(front.gateway, 'GET', `/v1/models${query}`, filter);
      const { data } = response.json<{ data: { owned_by: string }[] }>();
      return [...new Set(data.map(({ owned_by }) => owned_by))].sort();
    };
    expect(await owners('')).toEqual(['desk', 'svc']);
    expect(await owners('?owned_by=desk')).toEqual(['desk']);
    expect(await owners('', 'DESK')).toEqual(['desk']);
    expect(await owners('', 'unknown, Svc ,desk')).toEqual(['desk', 'svc']);
    expect(await owners('?owned_by=svc,desk', 'desk')).toEqual(['desk']);
    for (const none of ['unknown', 'des', 'desk*', 'svc desk']) expect(await owners('', none)).toEqual([]);
    expect(await owners('?owned_by=svc', 'desk')).toEqual([]);
    const lookup = { headers: { 'X-svc-Model-Filter': 'unknown' } };
    expect(
      (await send(front.gateway, 'GET', '/v1/models/desk-chat?owned_by=svc', lookup)).json(),
    ).toMatchObject({ id: 'desk-chat', owned_by: 'desk' });
  });

  it('chat, stream and embeddings are forwarded, also for the official client', async () => {
    const openai = openaiClient(front.gateway);
    const { data, response } = await openai.chat.completions
      .create(chat('desk-chat') as never)
      .withResponse();
    expect((data as OpenAI.ChatCompletion).choices[0]?.message.content).toContain('the desk speaks');
    expect(response.headers.get('x-svc-upstream')).toBe('desk');
    expect(response.headers.get('x-svc-step')).toBe('upstream-cached');
    expect(response.headers.get('x-svc-slot')).toBeNull();
    const stream = await openStream(front.gateway, CHAT, chat('desk-chat', { stream: true }), {
      key: CLIENT_KEY,
    });
    expect(await stream.ended).toBe(true);
    expect(contentOf(stream.text())).toContain('the desk speaks');
    expect(dataOf(stream.text()).at(-1)).toBe('[DONE]');
    const vectors = await openai.embeddings.create({ model: 'desk-vectors', input: ['a', 'b'] });
    expect(vectors.data.map(({ embedding }) => embedding.length)).toEqual([32, 32]);
    const { recent } = (await front.send('GET', '/api/requests')).json<{
      recent: { upstream: string; model: string }[];
    }>();
    expect(recent[0]).toMatchObject({ upstream: 'desk', model: 'desk-vectors' });
  });

  it('a disconnect ends the work there', async () => {
    const stream = await openStream(
      front.gateway,
      CHAT,
      chat('desk-chat', { stream: true, max_tokens: 900 }),
      {
        key: CLIENT_KEY,
      },
    );
    stream.disconnect();
    await until(
      async () =>
        (await send(desk, 'GET', '/api/slots/agent', { key: DESK_ADMIN })).json<{ active: number }>()
          .active === 0,
      'the desk to stop',
    );
  });

  it('names of slots are never forwarded', async () => {
    for (const model of ['agent', 'svc/agent', 'agent-hermes']) {
      const explained = (
        await front.send('POST', '/api/dispatch/explain', { body: { path: CHAT, model } })
      ).json();
      expect(explained).toMatchObject({ slot: 'agent', upstream: null, lane: 'agent' });
    }
  });

  it('explain names the step, and suggestions include its models', async () => {
    const explained = (
      await front.send('POST', '/api/dispatch/explain', { body: { path: CHAT, model: 'desk-chat' } })
    ).json();
    expect(explained).toMatchObject({ upstream: 'desk', slot: null, error: null });
    const missed = await front.send('POST', CHAT, { body: chat('desk-chad') });
    expect(missed.json()).toMatchObject({
      error: { code: 'dispatch.no_route', details: { suggestions: ['desk-chat'] } },
    });
  });

  it('a model on both is served locally until it is bound to the upstream', async () => {
    const routing = async () => {
      const response = await front.send('POST', CHAT, { body: chat('both') });
      const text = response.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message
        .content;
      return [response.headers['x-svc-upstream'], response.headers['x-svc-step'], text?.slice(0, 5)];
    };
    const bind = (binding: string | null) => front.send('PUT', '/api/models/both', { body: { binding } });
    expect((await bind('upstream:desk')).json()).toMatchObject({ id: 'both', binding: 'upstream:desk' });
    expect(await routing()).toEqual(['desk', 'registry', 'there']);
    for (const [binding, code] of [
      ['upstream:unknown', 'upstream.not_found'],
      ['slot:unknown', 'slot.not_found'],
      ['slot:../x', 'request.invalid'],
    ] as const)
      expect((await bind(binding)).code).toBe(code);
    expect(await front.send('PUT', '/api/models/unknown', { body: { binding: null } })).toMatchObject({
      code: 'model.not_found',
    });
    expect((await bind(null)).json()).toMatchObject({ binding: null });
    expect((await routing())[0]).toBeUndefined();
  });

  it('a wrong upstream key is not an error of the caller', async () => {
    await front.add(
      'wrong',
      `base_url = "${desk.url}/v1"\nkey_env = "UPSTREAM_CLOUD"\nmodels = ["desk-chat-too"]\n`,
    );
    const response = await front.send('POST', CHAT, { body: chat('desk-chat-too') });
    expect(response).toMatchObject({ status: 502, code: 'upstream.auth_failed' });
    expect(response.headers).toMatchObject({ 'x-should-retry': 'false', 'x-svc-upstream': 'wrong' });
    expect(await front.upstream('wrong')).toMatchObject({
      health: 'auth_failed',
      reason: 'It refused the key of this gateway.',
    });
  });

  it('its death is reported, and it is used again after its restart', async () => {
    await desk.stop('SIGKILL');
    for (let count = 0; count < 2; count++) {
      expect(await front.send('POST', CHAT, { body: chat('desk-chat') })).toMatchObject({
        status: 502,
        code: 'dispatch.upstream_unavailable',
      });
    }
    expect(await front.upstream('desk')).toMatchObject({
      health: 'down',
      reason: 'It refused the connection: no server listens at this address.',
    });
    const alone = await front.send('POST', CHAT, { body: chat('desk-chat') });
    expect(alone).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
    expect(Number(alone.headers['retry-after'])).toBeGreaterThan(0);
    expect((await front.listModels()).find(({ id }) => id === 'desk-chat')?._svc.state).toBe('offline');
    const metrics = (await send(front.gateway, 'GET', '/api/metrics/prometheus')).text;
    expect(metrics).toContain('svc_upstream_up{upstream="desk"} 0');
    desk = await startDesk(String(desk.port));
    await waitForSlotState(desk, 'agent', 'ready', DESK_ADMIN);
    await until(
      async () => (await front.send('POST', CHAT, { body: chat('desk-chat') })).status === 200,
      'the upstream to recover',
      30_000,
    );
    expect(await front.upstream('desk')).toMatchObject({ health: 'ok', reason: null, retry_at: null });
  });
});

describe('loops', () => {
  it('the gateway as its own upstream is rejected, by its address and by its instance id', async () => {
    await front.add('mirror', `base_url = "${front.gateway.url}/v1"\nmodels = ["echo"]\n`);
    expect(await front.upstream('mirror')).toMatchObject({ health: 'loop' });
    expect(await front.send('POST', CHAT, { body: chat('echo') })).toMatchObject({
      status: 508,
      code: 'upstream.loop',
    });
    const around = await front.startStandIn(({ url, method, headers, body }) => async (_req, res) => {
      const { host: _, connection: __, ...rest } = headers;
      const response = await send(front.gateway, method, url, {
        headers: { ...(rest as Record<string, string>), authorization: `Bearer ${ADMIN_KEY}` },
        ...(body ? { body } : {}),
      });
      res.writeHead(response.status, {
        'content-type': 'application/json',
        'x-svc-instance': String(response.headers['x-svc-instance'] ?? ''),
      });
      res.end(response.text);
    });
    await front.add('around', `base_url = "${around.url}/v1"\n`);
    expect(await front.upstream('around')).toMatchObject({ health: 'loop', models: 0 });
  });

  it('two gateways that forward the same model to each other stop after one round', async () => {
    const body = {
      name: 'front',
      base_url: `${front.gateway.url}/v1`,
      models: ['nowhere'],
      key_env: 'UPSTREAM_FRONT',
    };
    writeFileSync(
      join(deskHome, 'config/api.env'),
      `SVC_ADMIN_KEY=${DESK_ADMIN}\nSVC_CLIENT_KEY=${DESK_CLIENT}\nUPSTREAM_FRONT=${CLIENT_KEY}\n`,
    );
    expect((await send(desk, 'POST', '/api/upstreams', { key: DESK_ADMIN, body })).status).toBe(200);
    await until(
      async () =>
        (await send(desk, 'GET', '/api/upstreams/front', { key: DESK_ADMIN })).json<UpstreamRecord>()
          .key_set === true,
      'the key',
    );
    await front.add('back', `base_url = "${desk.url}/v1"\nkey_env = "UPSTREAM_DESK"\nmodels = ["nowhere"]\n`);
    const response = await front.send('POST', CHAT, { body: chat('nowhere') });
    expect(response).toMatchObject({ status: 508, code: 'upstream.loop' });
    expect(response.headers['x-should-retry']).toBe('false');
  });
});
