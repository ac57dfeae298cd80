/** Two equal upstreams over real ports: how they share calls, conversations that return, models that are loaded. */
import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExplainView } from '../contract/system.ts';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { json, provider, type ReceivedRequest, type StandIn } from './harness/stand-in.ts';

const front = new Front();
let [desk, den]: StandIn[] = [];
const servers = () => ({ desk: desk as StandIn, den: den as StandIn });
const fine = provider('shared');

beforeAll(async () => {
  await front.start();
  [desk, den] = await Promise.all([front.startStandIn(fine), front.startStandIn(fine)]);
});
beforeEach(async () => {
  for (const [name, server] of Object.entries(servers())) {
    server.respondWith(fine);
    await front.add(name, `base_url = "${server.url}"\n`);
  }
});
afterAll(() => front.close());

const isChat = ({ method }: ReceivedRequest) => method === 'POST';
const counts = () => Object.values(servers()).map(({ requests }) => requests.filter(isChat).length);
const message = (role: string, content: string) => ({ role, content });
const post = (messages: object[]) => front.send('POST', CHAT, { body: chat('shared', { messages }) });
const routed = async (messages: object[]) => {
  const { headers } = await post(messages);
  return [headers['x-svc-upstream'], headers['x-svc-balance']];
};

describe('two equal upstreams', () => {
  it.each([1, 5, 8])('share 1,000 calls within 10 %%, %d at a time', async (concurrency) => {
    const before = counts();
    const slow: (request: ReceivedRequest) => RequestListener = (request) => async (req, res) => {
      await delay(Math.random() * 4);
      fine(request)(req, res);
    };
    for (const server of Object.values(servers())) server.respondWith(slow);
    let left = 1_000;
    const worker = async () => {
      while (left-- > 0) expect((await post([message('user', 'hi')])).status).toBe(200);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    const shares = counts().map((count, at) => count - (before[at] ?? 0));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(1_000);
    for (const share of shares) expect(Math.abs(share - 500)).toBeLessThanOrEqual(50);
  });

  it('a conversation returns to the one that served its beginning', async () => {
    for (let conversation = 0; conversation < 6; conversation++) {
      const turns = [message('system', 'Be brief.'), message('user', `question ${conversation}`)];
      const [first] = await routed(turns);
      for (let turn = 0; turn < 3; turn++) {
        turns.push(message('assistant', 'An answer.'), message('user', `and ${turn}?`));
        expect(await routed(turns)).toEqual([first, 'prefix']);
      }
      const body = chat('shared', { messages: turns });
      const explained = await front.send('POST', '/api/dispatch/explain', {
        body: { path: CHAT, body: { ...body } },
      });
      expect(explained.json<ExplainView>()).toMatchObject({ upstream: first, balance: { rule: 'prefix' } });
    }
  });

  it('a conversation goes to the other one when its own is much busier', async () => {
    const turns = [message('user', 'a long question')];
    const [first] = await routed(turns);
    turns.push(message('assistant', 'An answer.'), message('user', 'and then?'));
    const owner = servers()[first as 'desk' | 'den'];
    const held: (() => void)[] = [];
    owner.respondWith((request) => (req, res) => void held.push(() => fine(request)(req, res)));
    const busy = Array.from({ length: 3 }, () => routed(turns));
    await expect.poll(() => held.length).toBe(3);
    const [other, rule] = await routed(turns);
    expect(other).not.toBe(first);
    expect(rule).toBe('active');
    for (const respond of held) respond();
    expect(await Promise.all(busy)).toEqual(Array(3).fill([first, 'prefix']));
  });

  it('the one with a larger weight gets more calls', async () => {
    await front.add('desk', `base_url = "${servers().desk.url}"\nweight = 3\n`);
    await expect.poll(async () => (await front.upstream('desk')).weight).toBe(3);
    const before = counts();
    for (let call = 0; call < 40; call++) await post([message('user', 'hi')]);
    const shares = counts().map((count, at) => count - (before[at] ?? 0));
    expect(Math.abs((shares[0] ?? 0) - 30)).toBeLessThanOrEqual(2);
  });

  it('the one with the model loaded is preferred to one that would have to load it', async () => {
    const list = (state: string) => ({
      object: 'list',
      data: [
        { id: 'shared', object: 'model', owned_by: 'svc', _svc: { slot: 's', state, active: 0, queued: 0 } },
      ],
    });
    for (const [name, state] of [
      ['desk', 'offline'],
      ['den', 'ready'],
    ] as const) {
      const server = servers()[name];
      server.respondWith((request) => (isChat(request) ? fine(request) : json(200, list(state))));
      await front.add(name, `base_url = "${server.url}"\nkind = "svc"\n`);
      await expect.poll(async () => (await front.upstream(name)).kind).toBe('svc');
      await front.send('POST', `/api/upstreams/${name}/test`);
    }
    for (let call = 0; call < 4; call++)
      expect(await routed([message('user', 'hi')])).toEqual(['den', 'loaded']);
  });
});
