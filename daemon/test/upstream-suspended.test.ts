/** Upstreams that accept requests and no longer respond: real processes, suspended with SIGSTOP like a machine that sleeps. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, chat, Front } from './harness/front-gateway.ts';
import { CLIENT_KEY, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { contentOf, dataOf, openStream } from './harness/stream.ts';
import { loadWhileSuspended, MAX_WAIT_MS, receivedTwice } from './harness/suspended-load.ts';
import { UpstreamProcess } from './harness/upstream-process.ts';

const front = new Front();
let [desk, den]: UpstreamProcess[] = [];
const both = () => ({ desk: desk as UpstreamProcess, den: den as UpstreamProcess });

beforeAll(async () => {
  await front.start();
  [desk, den] = await Promise.all([
    UpstreamProcess.start(['shared', 'solo']),
    UpstreamProcess.start(['shared']),
  ]);
  for (const [name, { url }] of Object.entries(both()))
    await front.add(name, `base_url = "${url}"\npriority = ${name === 'desk' ? 0 : 10}\n`);
});
afterAll(async () => {
  await Promise.all(Object.values(both()).map((upstream) => upstream?.kill()));
  await front.close();
});

const post = (model: string, user: string) =>
  send(front.gateway, 'POST', CHAT, {
    body: chat(model, { user }),
    key: CLIENT_KEY,
    idleTimeoutMs: 2 * MAX_WAIT_MS,
  });
const stream = (model: string, user: string, max_tokens = 2) =>
  openStream(front.gateway, CHAT, chat(model, { user, stream: true, max_tokens }), { key: CLIENT_KEY });

describe('a suspended upstream', () => {
  it('is found by probes: waiting requests go to the other one, running streams end, a probe brings it back', async () => {
    const { desk, den } = both();
    const running = await stream('solo', 'running', 10_000);
    await until(() => running.text().includes('served running'), 'the stream to run');
    desk.suspend();
    const since = performance.now();
    const [waiting, alone, streamed] = [
      post('shared', 'waiting'),
      post('solo', 'alone'),
      stream('shared', 'late'),
    ];
    const refused = await alone;
    expect([refused.status, refused.code]).toEqual([502, 'dispatch.upstream_unavailable']);
    expect(refused.text).toContain('Upstream desk stopped responding.');
    expect(performance.now() - since).toBeLessThan(MAX_WAIT_MS);
    const moved = await waiting;
    expect([moved.status, moved.headers['x-svc-upstream']]).toEqual([200, 'den']);
    const late = await streamed;
    expect(await late.ended).toBe(true);
    // The caller received comments before the answer of the other upstream.
    expect(late.text()).toMatch(/^: waiting/);
    expect(contentOf(late.text())).toContain('served late');
    expect(dataOf(late.text()).at(-1)).toBe('[DONE]');
    expect(den.received).toEqual(expect.arrayContaining(['waiting', 'late']));
    expect(den.received).not.toContain('alone');
    expect(await front.upstream('desk')).toMatchObject({
      health: 'down',
      reason: 'It did not respond to two probes.',
    });
    const next = await post('solo', 'next');
    expect([next.status, next.headers['retry-after']]).toEqual([502, expect.any(String)]);

    expect(await running.ended).toBe(true);
    expect(performance.now() - since).toBeGreaterThan(28_000);
    expect(JSON.parse(dataOf(running.text()).at(-1) ?? '')).toMatchObject({
      error: { code: 'dispatch.upstream_unavailable' },
    });
    expect(dataOf(running.text())).not.toContain('[DONE]');

    desk.resume();
    await until(
      async () => (await front.upstream('desk')).health === 'ok',
      'a probe to succeed',
      MAX_WAIT_MS,
    );
    expect((await post('solo', 'back')).status).toBe(200);
    expect(receivedTwice(desk)).toEqual([]);
    expect(desk.received).not.toContain('next');
  }, 120_000);

  it('loses and doubles no request while each is suspended in turn', async () => {
    await front.add('desk', `base_url = "${both().desk.url}"\npriority = 10\n`);
    await until(async () => (await front.upstream('desk')).priority === 10, 'equal priorities');
    const outcomes = await loadWhileSuspended({
      front,
      upstreams: both(),
      model: 'shared',
      requests: 200,
      concurrency: 4,
      pauseMs: 500,
    });
    expect(new Set(outcomes.map(({ user }) => user)).size).toBe(200);
    for (const { user, status, text, ms } of outcomes) {
      expect([user, status]).toEqual([user, 200]);
      expect(text).toContain(`served ${user}"`);
      expect(ms).toBeLessThan(MAX_WAIT_MS);
    }
    for (const upstream of Object.values(both())) expect(receivedTwice(upstream)).toEqual([]);
  }, 180_000);
});
