/** The streams of `/api`: events with replay, the gateway log and the engine logs. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import type { SlotRecord } from '../contract/slots.ts';
import { type FollowedStream, follow } from './harness/follow-events.ts';
import { ADMIN_KEY, CLIENT_KEY } from './harness/gateway.ts';
import { login, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { waitForSlotState } from './harness/slots.ts';
import { startGuarded } from './harness/tiny-gateway.ts';

const gateway = new OneGateway(() =>
  startGuarded({ files: { 'config/slots/utility.toml': 'model = "tiny"\nparallel = 1\n' } }),
);
const { sendAsAdmin } = gateway;

const admin = { key: ADMIN_KEY };
const slotAction = async (action: 'load' | 'unload' | 'restart') => {
  const response = await sendAsAdmin('POST', `/api/slots/utility/${action}`);
  expect(response.status, response.text).toBe(200);
  return response.json<SlotRecord>();
};
const chat = { model: 'agent', messages: [{ role: 'user', content: 'x' }], max_tokens: 1 };
const ids = (stream: FollowedStream) => stream.events().map(({ id }) => id);
const slotOf = (data: string) => (JSON.parse(data) as GatewayEvents['slot']).slot;

describe('GET /api/events', () => {
  it('emits every state of a slot, with increasing ids', async () => {
    const stream = await follow(gateway, '/api/events', admin);
    expect(stream.headers['content-type']).toBe('text/event-stream');
    await slotAction('load');
    await stream.next('utility to be ready', (each) => {
      return (
        each.event === 'slot' && slotOf(each.data).name === 'utility' && slotOf(each.data).state === 'ready'
      );
    });
    const received = ids(stream);
    expect(received).toEqual([...received].sort((a, b) => Number(a) - Number(b)));
    expect(new Set(received).size).toBe(received.length);
    stream.disconnect();
  });

  it('a reader that reconnects receives exactly the missed events', async () => {
    const first = await follow(gateway, '/api/events', admin);
    await slotAction('unload');
    const { id } = await first.next('an event', ({ event }) => event === 'slot');
    first.disconnect();
    await slotAction('load');
    const second = await follow(gateway, '/api/events', {
      ...admin,
      headers: { 'last-event-id': String(id) },
    });
    const missed = await second.next(
      'ready',
      ({ event, data }) => event === 'slot' && slotOf(data).state === 'ready',
    );
    expect(ids(second)).not.toContain(id);
    expect(ids(second)[0]).toBe(Number(id) + 1);
    expect(second.named('gap')).toEqual([]);
    const later = { ...admin, headers: { 'last-event-id': String(missed.id) } };
    const third = await follow(gateway, '/api/events', later);
    await slotAction('unload');
    await third.next('the unload', ({ event }) => event === 'slot');
    expect(Math.min(...ids(third).map(Number))).toBeGreaterThan(Number(missed.id));
    second.disconnect();
    third.disconnect();
  });

  it.each(['1', '99999999999999', 'nonsense', '-5'])(
    'Last-Event-ID %s gets a gap event with the current id',
    async (header) => {
      const stream = await follow(gateway, '/api/events', { ...admin, headers: { 'last-event-id': header } });
      const gap = await stream.next('the gap', ({ event }) => event === 'gap');
      expect(stream.events()[0]).toEqual(gap);
      stream.disconnect();
      const again = { ...admin, headers: { 'last-event-id': String(gap.id) } };
      const next = await follow(gateway, '/api/events', again);
      await slotAction('load');
      await slotAction('unload');
      await next.next('a slot event', ({ event }) => event === 'slot');
      expect(next.named('gap')).toEqual([]);
      next.disconnect();
    },
  );

  it('a new reader gets the current id, so that it can reconnect before the first event', async () => {
    const stream = await follow(gateway, '/api/events', admin);
    expect(stream.text()).toMatch(/\nid: \d+\n\n/);
    stream.disconnect();
  });

  it('request, auth and config events are for admins only', async () => {
    const [client, adminStream] = await Promise.all([
      follow(gateway, '/api/events', { key: CLIENT_KEY }),
      follow(gateway, '/api/events', admin),
    ]);
    await sendAsAdmin('POST', '/v1/chat/completions', { key: CLIENT_KEY, body: chat });
    await login(gateway, ADMIN_KEY);
    await sendAsAdmin('PUT', '/api/settings', { body: { values: { queueMax: 63 } } });
    await slotAction('load');
    for (const name of ['request', 'auth', 'config']) {
      await adminStream.next(name, ({ event }) => event === name);
    }
    await client.next('the load', ({ event, data }) => event === 'slot' && slotOf(data).state === 'ready');
    const names = new Set(client.events().map(({ event }) => event));
    for (const name of ['request', 'auth', 'config']) expect(names).not.toContain(name);
    expect(adminStream.named<GatewayEvents['request']>('request').map(({ state }) => state)).toEqual([
      'started',
      'ended',
    ]);
    client.disconnect();
    adminStream.disconnect();
  });

  it('the replay hides the same events', async () => {
    const stream = await follow(gateway, '/api/events', admin);
    const { id } = await stream
      .next('an id', ({ id: eventId }) => eventId !== null)
      .catch(() => ({ id: null }));
    stream.disconnect();
    const from = id ?? Number(/\nid: (\d+)\n/.exec(stream.text())?.[1]);
    await login(gateway, ADMIN_KEY);
    await slotAction('unload');
    const replay = await follow(gateway, '/api/events', {
      key: CLIENT_KEY,
      headers: { 'last-event-id': String(from) },
    });
    await replay.next('the unload', ({ event }) => event === 'slot');
    expect(replay.named('auth')).toEqual([]);
    replay.disconnect();
  });

  it('the end of a session ends its stream at once', async () => {
    const cookie = await login(gateway, ADMIN_KEY);
    const stream = await follow(gateway, '/api/events', { cookie });
    expect(stream.status).toBe(200);
    expect((await send(gateway, 'POST', '/api/auth/logout', { cookie })).status).toBe(200);
    expect(await stream.ended).toBe(false);
  });

  it('HEAD has the headers of GET and no stream', async () => {
    for (const path of ['/api/events', '/api/logs', '/api/slots/agent/logs']) {
      const response = await sendAsAdmin('HEAD', path);
      expect(response).toMatchObject({ status: 200, text: '' });
    }
  });
});

describe('GET /api/slots/{name}/logs', () => {
  const path = '/api/slots/utility/logs';
  const texts = (stream: FollowedStream) => stream.named<{ text: string }>('line').map(({ text }) => text);

  it('sends the last lines, then live ones across a restart of the engine', async () => {
    const { pid } = await slotAction('load');
    const stream = await follow(gateway, path, admin);
    await stream.next('the first start', ({ data }) => data.includes(`pid ${pid}`));
    const again = await slotAction('restart');
    await stream.next('the second start', ({ data }) => data.includes(`pid ${again.pid}`));
    expect(texts(stream).join('\n')).toMatch(/gateway: started tiny/);
    stream.disconnect();
  });

  it('sends the log of the last engine of an unloaded slot, and ends without follow', async () => {
    await slotAction('unload');
    const stream = await follow(gateway, `${path}?follow=false&lines=2`, admin);
    expect(await stream.ended).toBe(true);
    expect(texts(stream)).toHaveLength(2);
  });

  it('continues with the file of the next engine when there was none', async () => {
    const { pid } = await slotAction('load');
    rmSync(join(gateway.home, 'state/logs/utility.log'));
    const stream = await follow(gateway, `${path}?lines=1000`, admin);
    const again = await slotAction('restart');
    await stream.next('the file', ({ data }) => data.includes(`pid ${again.pid}`));
    expect(texts(stream).join('\n')).not.toContain(`pid ${pid}`);
    stream.disconnect();
  });

  it('an unknown slot is 404', async () => {
    expect(await sendAsAdmin('GET', '/api/slots/unknown/logs')).toMatchObject({
      status: 404,
      code: 'slot.not_found',
    });
    for (const name of ['..', '%2e%2e%2f%2e%2e%2fsecret', 'agent%00', 'agent/../../x']) {
      expect((await sendAsAdmin('GET', `/api/slots/${name}/logs`)).status).toBe(404);
    }
  });

  it.each(['lines=-1', 'lines=1001', 'lines=x', 'follow=maybe'])('?%s is 422', async (query) => {
    const response = await sendAsAdmin('GET', `${path}?${query}`);
    expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
  });

  it('is for admins', async () => {
    expect((await sendAsAdmin('GET', path, { key: CLIENT_KEY })).code).toBe('auth.forbidden');
  });

  it('limits the number of readers, and accepts new ones once others have disconnected', async () => {
    const open = await Promise.all(Array.from({ length: 16 }, () => follow(gateway, path, admin)));
    expect(open.map(({ status }) => status)).toEqual(Array(16).fill(200));
    const refused = await sendAsAdmin('GET', path);
    expect(refused).toMatchObject({ status: 503, code: 'events.too_many' });
    expect(refused.headers['retry-after']).toBe('5');
    for (const stream of open) stream.disconnect();
    await Promise.all(open.map(({ ended }) => ended));
    await expect
      .poll(async () => (await sendAsAdmin('GET', `${path}?follow=false`)).status, { timeout: 10_000 })
      .toBe(200);
  });
});

describe('GET /api/logs', () => {
  const readLog = async (query: string) => {
    const stream = await follow(gateway, `/api/logs?follow=false&${query}`, admin);
    expect(await stream.ended).toBe(true);
    return stream.named<{ level: string; msg?: string }>('log');
  };

  it('sends the last lines, as logged', async () => {
    const lines = await readLog('lines=1000');
    expect(lines.length).toBeGreaterThanOrEqual(2);
    for (const line of lines) expect(gateway.output()).toContain(JSON.stringify(line));
    expect(await readLog('lines=1')).toEqual(lines.slice(-1));
    expect(await readLog('lines=0')).toHaveLength(0);
  });

  it('filters by level, live too', async () => {
    const stream = await follow(gateway, '/api/logs?level=warn', admin);
    process.kill((await slotAction('load')).pid as number, 'SIGKILL');
    const { data } = await stream.next('the failure', ({ data }) => data.includes('slot failed'));
    expect(JSON.parse(data)).toMatchObject({ level: 'warn', slot: 'utility' });
    for (const { level } of stream.named<{ level: string }>('log'))
      expect(['warn', 'error', 'fatal']).toContain(level);
    for (const { level } of await readLog('level=error')) expect(['error', 'fatal']).toContain(level);
    expect(await sendAsAdmin('GET', '/api/logs?level=loud')).toMatchObject({
      status: 422,
      code: 'request.invalid',
    });
    stream.disconnect();
    await waitForSlotState(gateway, 'utility', 'ready', ADMIN_KEY);
  });

  it('a reader that reconnects continues after its last line', async () => {
    const stream = await follow(gateway, '/api/logs', admin);
    const { id } = await stream.next('a line', ({ event }) => event === 'log');
    const all = stream.events().length;
    stream.disconnect();
    const resumed = await follow(gateway, '/api/logs?follow=false', {
      ...admin,
      headers: { 'last-event-id': String(id) },
    });
    await resumed.ended;
    expect(resumed.named('gap')).toEqual([]);
    expect(resumed.events().length).toBeGreaterThanOrEqual(all - 1);
    expect(ids(resumed)).not.toContain(id);
    const stale = await follow(gateway, '/api/logs?follow=false', {
      ...admin,
      headers: { 'last-event-id': '7' },
    });
    await stale.ended;
    expect(stale.named('gap')).toHaveLength(1);
  });

  it('contains no key of any request', async () => {
    await sendAsAdmin('GET', `/api/settings?api_key=${CLIENT_KEY}`);
    await sendAsAdmin('POST', '/v1/chat/completions', { body: { ...chat, model: ADMIN_KEY } });
    const text = JSON.stringify(await readLog('lines=1000'));
    for (const key of [ADMIN_KEY, CLIENT_KEY]) expect(text).not.toContain(key);
  });

  it('is for admins', async () => {
    expect((await sendAsAdmin('GET', '/api/logs', { key: CLIENT_KEY })).code).toBe('auth.forbidden');
  });
});

describe('a stop', () => {
  it('ends every stream cleanly', async () => {
    const streams = await Promise.all(
      ['/api/events', '/api/logs', '/api/slots/agent/logs'].map((path) => follow(gateway, path, admin)),
    );
    const ended = Promise.all(streams.map((stream) => stream.ended));
    expect(await gateway.stop()).toBe(0);
    expect(await ended).toEqual([true, true, true]);
  });
});
