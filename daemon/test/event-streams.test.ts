/** The streams of `/api`: events with their replay, the log of the gateway and the logs of engines. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import type { SlotRecord } from '../contract/slots.ts';
import { type Followed, follow } from './harness/follow-events.ts';
import { ADMIN_KEY, CLIENT_KEY } from './harness/gateway.ts';
import { ask, login } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slotState } from './harness/slots.ts';
import { startGuarded } from './harness/tiny-gateway.ts';

const gateway = new OneGateway(() =>
  startGuarded({ files: { 'config/slots/utility.toml': 'model = "tiny"\nparallel = 1\n' } }),
);
const { say } = gateway;

const admin = { key: ADMIN_KEY };
const verb = async (action: 'load' | 'unload' | 'restart') => {
  const answer = await say('POST', `/api/slots/utility/${action}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json<SlotRecord>();
};
const chat = { model: 'agent', messages: [{ role: 'user', content: 'x' }], max_tokens: 1 };
const ids = (stream: Followed) => stream.events().map(({ id }) => id);
const slotOf = (data: string) => (JSON.parse(data) as GatewayEvents['slot']).slot;

describe('GET /api/events', () => {
  it('tells every state of a slot, with rising ids', async () => {
    const stream = await follow(gateway, '/api/events', admin);
    expect(stream.headers['content-type']).toBe('text/event-stream');
    await verb('load');
    await stream.next('utility to be ready', (each) => {
      return (
        each.event === 'slot' && slotOf(each.data).name === 'utility' && slotOf(each.data).state === 'ready'
      );
    });
    const seen = ids(stream);
    expect(seen).toEqual([...seen].sort((a, b) => Number(a) - Number(b)));
    expect(new Set(seen).size).toBe(seen.length);
    stream.leave();
  });

  it('a reader that comes back gets exactly what it missed', async () => {
    const first = await follow(gateway, '/api/events', admin);
    await verb('unload');
    const { id } = await first.next('an event', ({ event }) => event === 'slot');
    first.leave();
    await verb('load');
    const witness = await follow(gateway, '/api/events', {
      ...admin,
      headers: { 'last-event-id': String(id) },
    });
    const missed = await witness.next(
      'ready',
      ({ event, data }) => event === 'slot' && slotOf(data).state === 'ready',
    );
    expect(ids(witness)).not.toContain(id);
    expect(ids(witness)[0]).toBe(Number(id) + 1);
    expect(witness.named('gap')).toEqual([]);
    const later = { ...admin, headers: { 'last-event-id': String(missed.id) } };
    const third = await follow(gateway, '/api/events', later);
    await verb('unload');
    await third.next('the unload', ({ event }) => event === 'slot');
    expect(Math.min(...ids(third).map(Number))).toBeGreaterThan(Number(missed.id));
    witness.leave();
    third.leave();
  });

  it.each(['1', '99999999999999', 'nonsense', '-5'])(
    'Last-Event-ID %s is told that there is a gap, and where it stands now',
    async (header) => {
      const stream = await follow(gateway, '/api/events', { ...admin, headers: { 'last-event-id': header } });
      const gap = await stream.next('the gap', ({ event }) => event === 'gap');
      expect(stream.events()[0]).toEqual(gap);
      stream.leave();
      const again = { ...admin, headers: { 'last-event-id': String(gap.id) } };
      const next = await follow(gateway, '/api/events', again);
      await verb('load');
      await verb('unload');
      await next.next('a slot event', ({ event }) => event === 'slot');
      expect(next.named('gap')).toEqual([]);
      next.leave();
    },
  );

  it('a new reader is told where it stands, so that it can come back before the first event', async () => {
    const stream = await follow(gateway, '/api/events', admin);
    expect(stream.text()).toMatch(/\nid: \d+\n\n/);
    stream.leave();
  });

  it('who calls which route, what was configured and who logged in is for admins only', async () => {
    const [client, boss] = await Promise.all([
      follow(gateway, '/api/events', { key: CLIENT_KEY }),
      follow(gateway, '/api/events', admin),
    ]);
    await say('POST', '/v1/chat/completions', { key: CLIENT_KEY, body: chat });
    await login(gateway, ADMIN_KEY);
    await say('PUT', '/api/settings', { body: { values: { queueMax: 63 } } });
    await verb('load');
    for (const name of ['request', 'auth', 'config']) {
      await boss.next(name, ({ event }) => event === name);
    }
    await client.next('the load', ({ event, data }) => event === 'slot' && slotOf(data).state === 'ready');
    const seen = new Set(client.events().map(({ event }) => event));
    for (const name of ['request', 'auth', 'config']) expect(seen).not.toContain(name);
    expect(boss.named<GatewayEvents['request']>('request').map(({ state }) => state)).toEqual([
      'started',
      'ended',
    ]);
    client.leave();
    boss.leave();
  });

  it('the replay hides the same', async () => {
    const stream = await follow(gateway, '/api/events', admin);
    const { id } = await stream
      .next('a place', ({ id: place }) => place !== null)
      .catch(() => ({ id: null }));
    stream.leave();
    const from = id ?? Number(/\nid: (\d+)\n/.exec(stream.text())?.[1]);
    await login(gateway, ADMIN_KEY);
    await verb('unload');
    const back = await follow(gateway, '/api/events', {
      key: CLIENT_KEY,
      headers: { 'last-event-id': String(from) },
    });
    await back.next('the unload', ({ event }) => event === 'slot');
    expect(back.named('auth')).toEqual([]);
    back.leave();
  });

  it('a session that ends takes its stream with it, at once', async () => {
    const cookie = await login(gateway, ADMIN_KEY);
    const stream = await follow(gateway, '/api/events', { cookie });
    expect(stream.status).toBe(200);
    expect((await ask(gateway, 'POST', '/api/auth/logout', { cookie })).status).toBe(200);
    expect(await stream.ended).toBe(false);
  });

  it('HEAD has the head of GET and ends', async () => {
    for (const path of ['/api/events', '/api/logs', '/api/slots/agent/logs']) {
      const answer = await say('HEAD', path);
      expect(answer).toMatchObject({ status: 200, text: '' });
    }
  });
});

describe('GET /api/slots/{name}/logs', () => {
  const path = '/api/slots/utility/logs';
  const texts = (stream: Followed) => stream.named<{ text: string }>('line').map(({ text }) => text);

  it('tells the last lines, then live ones over a restart of the engine', async () => {
    const { pid } = await verb('load');
    const stream = await follow(gateway, path, admin);
    await stream.next('the first start', ({ data }) => data.includes(`pid ${pid}`));
    const again = await verb('restart');
    await stream.next('the second start', ({ data }) => data.includes(`pid ${again.pid}`));
    expect(texts(stream).join('\n')).toMatch(/gateway: started tiny/);
    stream.leave();
  });

  it('of a slot that runs nothing, what its last engine wrote; and ends without follow', async () => {
    await verb('unload');
    const stream = await follow(gateway, `${path}?follow=false&lines=2`, admin);
    expect(await stream.ended).toBe(true);
    expect(texts(stream)).toHaveLength(2);
  });

  it('goes on with the file that the next engine writes when there was none', async () => {
    const { pid } = await verb('load');
    rmSync(join(gateway.home, 'state/logs/utility.log'));
    const stream = await follow(gateway, `${path}?lines=1000`, admin);
    const again = await verb('restart');
    await stream.next('the file', ({ data }) => data.includes(`pid ${again.pid}`));
    expect(texts(stream).join('\n')).not.toContain(`pid ${pid}`);
    stream.leave();
  });

  it('a slot that never ran has none, and one that is not there is 404', async () => {
    expect(await say('GET', '/api/slots/nobody/logs')).toMatchObject({ status: 404, code: 'slot.not_found' });
    for (const name of ['..', '%2e%2e%2f%2e%2e%2fsecret', 'agent%00', 'agent/../../x']) {
      expect((await say('GET', `/api/slots/${name}/logs`)).status).toBe(404);
    }
  });

  it.each(['lines=-1', 'lines=1001', 'lines=x', 'follow=maybe'])('?%s is 422', async (query) => {
    const answer = await say('GET', `${path}?${query}`);
    expect(answer).toMatchObject({ status: 422, code: 'request.invalid' });
  });

  it('is for admins', async () => {
    expect((await say('GET', path, { key: CLIENT_KEY })).code).toBe('auth.forbidden');
  });

  it('has room for a bounded number of readers, and for new ones once others have gone', async () => {
    const open = await Promise.all(Array.from({ length: 16 }, () => follow(gateway, path, admin)));
    expect(open.map(({ status }) => status)).toEqual(Array(16).fill(200));
    const refused = await say('GET', path);
    expect(refused).toMatchObject({ status: 503, code: 'events.too_many' });
    expect(refused.headers['retry-after']).toBe('5');
    for (const stream of open) stream.leave();
    await Promise.all(open.map(({ ended }) => ended));
    await expect
      .poll(async () => (await say('GET', `${path}?follow=false`)).status, { timeout: 10_000 })
      .toBe(200);
  });
});

describe('GET /api/logs', () => {
  const last = async (query: string) => {
    const stream = await follow(gateway, `/api/logs?follow=false&${query}`, admin);
    expect(await stream.ended).toBe(true);
    return stream.named<{ level: string; msg?: string }>('log');
  };

  it('tells the last lines, as the log wrote them', async () => {
    const lines = await last('lines=1000');
    expect(lines.length).toBeGreaterThanOrEqual(2);
    for (const line of lines) expect(gateway.output()).toContain(JSON.stringify(line));
    expect(await last('lines=1')).toEqual(lines.slice(-1));
    expect(await last('lines=0')).toHaveLength(0);
  });

  it('shows what is severe enough, live too', async () => {
    const stream = await follow(gateway, '/api/logs?level=warn', admin);
    process.kill((await verb('load')).pid as number, 'SIGKILL');
    const { data } = await stream.next('the failure', ({ data }) => data.includes('slot failed'));
    expect(JSON.parse(data)).toMatchObject({ level: 'warn', slot: 'utility' });
    for (const { level } of stream.named<{ level: string }>('log'))
      expect(['warn', 'error', 'fatal']).toContain(level);
    for (const { level } of await last('level=error')) expect(['error', 'fatal']).toContain(level);
    expect(await say('GET', '/api/logs?level=loud')).toMatchObject({ status: 422, code: 'request.invalid' });
    stream.leave();
    await slotState(gateway, 'utility', 'ready', ADMIN_KEY);
  });

  it('a reader that comes back goes on behind the line that it had', async () => {
    const stream = await follow(gateway, '/api/logs', admin);
    const { id } = await stream.next('a line', ({ event }) => event === 'log');
    const all = stream.events().length;
    stream.leave();
    const back = await follow(gateway, '/api/logs?follow=false', {
      ...admin,
      headers: { 'last-event-id': String(id) },
    });
    await back.ended;
    expect(back.named('gap')).toEqual([]);
    expect(back.events().length).toBeGreaterThanOrEqual(all - 1);
    expect(ids(back)).not.toContain(id);
    const lost = await follow(gateway, '/api/logs?follow=false', {
      ...admin,
      headers: { 'last-event-id': '7' },
    });
    await lost.ended;
    expect(lost.named('gap')).toHaveLength(1);
  });

  it('holds no key, whatever is asked', async () => {
    await say('GET', `/api/settings?api_key=${CLIENT_KEY}`);
    await say('POST', '/v1/chat/completions', { body: { ...chat, model: ADMIN_KEY } });
    const text = JSON.stringify(await last('lines=1000'));
    for (const key of [ADMIN_KEY, CLIENT_KEY]) expect(text).not.toContain(key);
  });

  it('is for admins', async () => {
    expect((await say('GET', '/api/logs', { key: CLIENT_KEY })).code).toBe('auth.forbidden');
  });
});

describe('a stop', () => {
  it('ends every stream as it should', async () => {
    const streams = await Promise.all(
      ['/api/events', '/api/logs', '/api/slots/agent/logs'].map((path) => follow(gateway, path, admin)),
    );
    const ended = Promise.all(streams.map((stream) => stream.ended));
    expect(await gateway.stop()).toBe(0);
    expect(await ended).toEqual([true, true, true]);
  });
});
