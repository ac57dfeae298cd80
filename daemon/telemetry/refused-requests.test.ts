import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { createMinutes } from './minutes.ts';
import { createRefusedRequests, type RefusedRequest } from './refused-requests.ts';

function setUp() {
  const bus = new EventBus<GatewayEvents>();
  const events: string[] = [];
  bus.subscribe(({ name }) => void events.push(name));
  const minutes = createMinutes();
  const rows = createRefusedRequests({
    bus,
    minutes,
    redact: (text) => text.replaceAll('swordfish', '[hidden]'),
  });
  let last = 0;
  const add = (over: Partial<RefusedRequest> = {}) =>
    rows.add({
      id: `r${++last}`,
      path: '/v1/chat/completions',
      failure: new GatewayError('auth.required', { message: 'This key is not valid here.' }),
      caller: { app: null, user_agent: 'curl/8', address: 'private' },
      receivedAt: performance.now(),
      ...over,
    });
  return { rows, add, events, minutes };
}

test('a request without access is a row with its message and its caller', () => {
  const { rows, add, minutes } = setUp();
  add();
  expect(rows.list()).toMatchObject([
    {
      id: 'r1',
      route: '/v1/chat/completions',
      state: 'done',
      status: 401,
      error: 'auth.required',
      message: 'This key is not valid here.',
      user_agent: 'curl/8',
      address: 'private',
      tier: 'anon',
      model: null,
    },
  ]);
  expect(rows.find('r1')).toMatchObject({ id: 'r1', story: null });
  expect(rows.find('r2')).toBeNull();
  expect(minutes.rows().at(-1)).toMatchObject({ requests: 1, refused: 1, failed: 0 });
});

test.each([
  ['auth.required', '/api/status', 0],
  ['auth.forbidden', '/api/settings', 0],
  ['auth.origin_forbidden', '/api/settings', 1],
  ['auth.host_forbidden', '/', 1],
  ['auth.forbidden', '/v1/models', 1],
  ['slot.queue_full', '/v1/chat/completions', 0],
  ['auth.rate_limited', '/api/auth/login', 0],
] as const)('%s on %s is %d row', (code, path, count) => {
  const { rows, add } = setUp();
  add({ path, failure: new GatewayError(code) });
  expect(rows.list()).toHaveLength(count);
});

test('an app that tries again and again does not displace the others', () => {
  const { rows, add } = setUp();
  add({ caller: { app: null, user_agent: 'once', address: 'loopback' } });
  for (let turn = 0; turn < 500; turn += 1) add();
  const agents = rows.list().map(({ user_agent: agent }) => agent);
  expect(agents.filter((agent) => agent === 'curl/8')).toHaveLength(10);
  expect(agents.at(-1)).toBe('once');
  expect(rows.list()[0]?.id).toBe('r501');
});

test('there are at most 200 rows, the newest first, for any callers', () => {
  const { rows, add } = setUp();
  for (let turn = 0; turn < 500; turn += 1)
    add({ caller: { app: null, user_agent: `agent ${turn}`, address: null } });
  expect(rows.list()).toHaveLength(200);
  expect(rows.list()[0]).toMatchObject({ id: 'r500' });
  expect(rows.find('r300')).toBeNull();
  expect(rows.find('r301')).not.toBeNull();
});

test('a flood causes one event per second', () => {
  const { add, events } = setUp();
  for (let turn = 0; turn < 100; turn += 1) add();
  expect(events).toEqual(['request']);
});

test('no text has a secret or is long', () => {
  const { rows, add } = setUp();
  add({
    path: `/swordfish/${'x'.repeat(5000)}`,
    failure: new GatewayError('auth.required', { message: 'swordfish' }),
    caller: { app: 'swordfish', user_agent: 'swordfish', address: null },
  });
  expect(JSON.stringify(rows.list())).not.toContain('swordfish');
  expect(rows.list()[0]?.route.length).toBeLessThan(140);
});
