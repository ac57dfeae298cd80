import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModelWithMemory } from '../contract/models.ts';
import { type PullRecord, PullsResponse, PullView } from '../contract/pulls.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import { type FakeHub, startHub } from '../models/testing/hub.ts';
import { follow } from './harness/follow-events.ts';
import {
  ADMIN_KEY,
  CLIENT_KEY,
  type Gateway,
  KEYS_FILE,
  QUIET_FILE,
  startGateway,
  until,
} from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { type HttpResponse, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { randomFrom, scale, seed } from './harness/scale.ts';

const REPO = 'maker/Tiny-Chat-GGUF';
const REPLY = 'I was pulled a moment ago.';
const TOKEN = 'hf_goodtoken';
let hub: FakeHub;
let weights: Buffer;

beforeAll(async () => {
  weights = Buffer.from(encodeGguf(tinyChat({ name: 'Tiny', width: 64, reply: REPLY })));
  hub = await startHub({
    [REPO]: { files: { 'tiny-Q8_0.gguf': weights }, licence: 'apache-2.0', gated: true },
  });
});
afterAll(() => hub.close());

const start = (home?: string) =>
  startGateway({
    home,
    env: { HF_ENDPOINT: hub.url, HF_TOKEN: TOKEN },
    files: { ...KEYS_FILE, ...QUIET_FILE },
  });
const call = (gateway: Gateway, method: string, path: string, body?: unknown): Promise<HttpResponse> =>
  send(gateway, method, path, { key: ADMIN_KEY, body });
const job = async (gateway: Gateway, id: string): Promise<PullRecord | undefined> =>
  (await call(gateway, 'GET', '/api/pulls'))
    .json<{ pulls: PullRecord[] }>()
    .pulls.find((one) => one.id === id);

async function ended(gateway: Gateway, id: string): Promise<PullRecord> {
  let last: PullRecord | undefined;
  await until(
    async () => {
      last = await job(gateway, id);
      return last !== undefined && ['done', 'failed', 'cancelled'].includes(last.state);
    },
    'the pull to end',
    60_000,
  );
  return last as PullRecord;
}

describe('a model from the hub', () => {
  const gateway = new OneGateway(start);
  let model = '';

  test('is found, pulled with progress events, and served at once', async () => {
    const found = await call(gateway, 'GET', '/api/models/search?q=tiny');
    expect(found.json()).toMatchObject({ results: [{ repo: REPO, gated: true, licence: 'mit' }] });
    const pasted = await call(
      gateway,
      'GET',
      `/api/models/search?q=${encodeURIComponent(`https://huggingface.co/${REPO}`)}`,
    );
    expect(pasted.json()).toMatchObject({ results: [{ repo: REPO }] });
    const requestCount = hub.requests.length;
    await call(gateway, 'GET', '/api/models/search?q=TINY');
    expect(hub.requests.length).toBe(requestCount);

    const events = await follow(gateway, '/api/events', { key: CLIENT_KEY });
    const created = await call(gateway, 'POST', '/api/models/pull', { model: `${REPO}:Q8_0` });
    expect([created.status, PullView.safeParse(created.json()).success]).toEqual([200, true]);
    const record = await ended(gateway, created.json<PullRecord>().id);
    expect(record).toMatchObject({ state: 'done', model: 'tiny-Q8_0', licence: 'apache-2.0', error: null });
    model = record.model ?? '';
    await events.next(
      'the end of the pull',
      ({ event, data }) => event === 'pull' && data.includes('"done"'),
    );
    const states = events.named<{ pull: PullRecord }>('pull').map(({ pull }) => pull.state);
    expect(states).toEqual(expect.arrayContaining(['queued', 'running', 'verifying', 'done']));
    events.disconnect();

    const chat = await send(gateway, 'POST', '/v1/chat/completions', {
      key: CLIENT_KEY,
      body: { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 40 },
    });
    expect([chat.status, chat.text.includes(REPLY)]).toEqual([200, true]);
    const { models } = (await call(gateway, 'GET', '/api/models')).json<{ models: ModelWithMemory[] }>();
    expect(models.find(({ id }) => id === model)).toMatchObject({
      source: 'pull',
      repo: REPO,
      revision: hub.commit(REPO),
      licence: 'apache-2.0',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('cannot be removed while a slot uses it, and leaves nothing afterwards', async () => {
    const busy = await call(gateway, 'DELETE', `/api/models/${model}`);
    expect([busy.status, busy.code]).toEqual([409, 'model.in_use']);
    const [slot] = busy.json<{ error: { details: { slots: string[] } } }>().error.details.slots;
    await call(gateway, 'POST', `/api/slots/${slot}/unload`);
    expect((await call(gateway, 'DELETE', `/api/models/${model}`)).json()).toEqual({
      removed: model,
      files: 1,
    });
    expect(readdirSync(join(gateway.home, 'state', 'models')).filter((name) => name === 'maker')).toEqual([]);
    expect((await call(gateway, 'DELETE', `/api/models/${model}`)).code).toBe('model.not_found');
  });

  test('can be paused, resumed and cancelled, each only in a suitable state', async () => {
    hub.fault = { slowMs: 10 };
    const { id } = (await call(gateway, 'POST', '/api/models/pull', { model: REPO })).json<PullRecord>();
    await until(async () => ((await job(gateway, id))?.bytes ?? 0) > 0, 'the first bytes');
    const paused = (await call(gateway, 'POST', `/api/pulls/${id}/pause`)).json<PullRecord>();
    expect(paused).toMatchObject({ state: 'paused', speed: null });
    const resumed = await call(gateway, 'POST', `/api/pulls/${id}/resume`);
    expect(['queued', 'running']).toContain(resumed.json<PullRecord>().state);
    expect((await call(gateway, 'POST', `/api/pulls/${id}/cancel`)).json()).toMatchObject({
      state: 'cancelled',
    });
    expect((await call(gateway, 'POST', `/api/pulls/${id}/resume`)).code).toBe('pull.state');
    expect((await call(gateway, 'POST', '/api/pulls/none/pause')).code).toBe('pull.unknown');
    expect(readdirSync(join(gateway.home, 'state', 'models', '.pulls'))).toEqual([]);
    hub.fault = {};
    const all = await send(gateway, 'GET', '/api/pulls', { key: CLIENT_KEY });
    expect(PullsResponse.parse(all.json())).toEqual(all.json());
  });

  test.each([
    [{ model: 'no-slash' }, 422, 'pull.bad_name'],
    [{ model: 'a/b/../c' }, 422, 'pull.bad_name'],
    [{ model: 'https://huggingface.co/datasets/a/b' }, 422, 'pull.bad_name'],
    [{ model: 'https://example.com/a/b.gguf' }, 422, 'pull.bad_name'],
    [{ model: 'mistral:7b' }, 422, 'pull.bad_name'],
    [{ model: `${REPO}:Q2_K` }, 404, 'pull.not_found'],
    [{ model: 'maker/none' }, 404, 'pull.not_found'],
    [{ model: REPO, revision: 'v9' }, 404, 'pull.not_found'],
    [{ model: REPO, revision: '../../x' }, 404, 'pull.not_found'],
    [{ model: '' }, 422, 'request.invalid'],
    [{ model: REPO, extra: 1 }, 422, 'request.invalid'],
    [{}, 422, 'request.invalid'],
  ])('%j is rejected with %i %s', async (body, status, code) => {
    const response = await call(gateway, 'POST', '/api/models/pull', body);
    expect([response.status, response.code]).toEqual([status, code]);
    expect(response.json()).toMatchObject({ error: { advice: expect.stringMatching(/\.$/) } });
  });

  test('the token of the hub is in no response and no log line', () => {
    expect(gateway.output()).not.toContain(TOKEN);
    expect(hub.requests.some(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);
  });
});

test('DL01 a gateway that is killed at any byte resumes from there', async () => {
  const random = randomFrom(seed('killed pulls'));
  const home = newHome();
  try {
    hub.fault = { slowMs: 15 };
    let gateway = await start(home);
    const { id } = (await call(gateway, 'POST', '/api/models/pull', { model: REPO })).json<PullRecord>();
    let kills = 0;
    for (const rounds = scale(50); kills < rounds; kills++) {
      const before = (await job(gateway, id))?.bytes ?? 0;
      const wanted = before + Math.floor(random() * 40_000) + 1;
      await until(async () => {
        const now = await job(gateway, id);
        return now?.state === 'done' || (now?.bytes ?? 0) >= wanted;
      }, 'more bytes');
      await gateway.stop('SIGKILL');
      const requestCount = hub.requests.length;
      gateway = await start(home);
      const now = await job(gateway, id);
      if (now?.state === 'done') break;
      const part = join(home, 'state', 'models', '.pulls', id, 'tiny-Q8_0.gguf.part');
      await until(
        () => hub.requests.slice(requestCount).some(({ range }) => range !== undefined),
        'the next range',
      );
      const from = Number(
        /\d+/.exec(hub.requests.slice(requestCount).find(({ range }) => range)?.range ?? '')?.[0],
      );
      expect(from).toBeGreaterThanOrEqual(wanted > weights.length ? 0 : before);
      expect(readFileSync(part).subarray(0, from).equals(weights.subarray(0, from))).toBe(true);
    }
    hub.fault = {};
    expect(kills).toBeGreaterThan(0);
    expect(await ended(gateway, id)).toMatchObject({ state: 'done' });
    expect(readFileSync(join(home, 'state', 'models', REPO, 'tiny-Q8_0.gguf')).equals(weights)).toBe(true);
    await gateway.stop();
  } finally {
    hub.fault = {};
    rmSync(home, { recursive: true, force: true });
  }
}, 240_000);
