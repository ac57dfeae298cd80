/**
 * docs/spec/contract.md#slot-states: engines that die, or that are loaded, unloaded and restarted while
 * callers use them.
 */
import { describe, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { alive } from './harness/descendants.ts';
import { until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot, slotDo, slotState } from './harness/slots.ts';
import { dataOf, type Streamed } from './harness/stream.ts';
import { ENDLESS, flowing, startTiny } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';

const gateway = new OneGateway(() =>
  startTiny({
    files: {
      'config/slots/utility.toml': 'model = "tiny"\nparallel = 1\n',
      'config/slots/resting.toml': 'model = "tiny"\nenabled = false\n',
    },
  }),
);

const user = (content: string) => [{ role: 'user', content }];
const greedy = { temperature: 0, max_tokens: 2 };
const say = (model: string) =>
  ask(gateway, 'POST', CHAT, { body: { model, messages: user('x'), ...greedy } });

const lastEvent = (streamed: Streamed) => JSON.parse(dataOf(streamed.text()).at(-1) ?? '{}');

describe('S03 P03 an engine that is killed while it answers', () => {
  it('ends every stream with an error event and no [DONE], fails a whole answer with 502, and comes back by itself', async () => {
    const { pid } = await slotState(gateway, 'agent', 'ready');
    const streams = [await flowing(gateway, 'agent')];
    const whole = ask(gateway, 'POST', CHAT, {
      body: { model: 'agent', messages: user(ENDLESS), temperature: 0 },
    });
    await until(async () => (await slot(gateway, 'agent')).active === 2, 'both to run');
    process.kill(pid as number, 'SIGKILL');
    for (const streamed of streams) {
      expect(await streamed.ended).toBe(true);
      expect(lastEvent(streamed)).toMatchObject({
        error: { code: 'dispatch.upstream_unavailable', type: 'server_error', message: expect.any(String) },
      });
      expect(streamed.text()).not.toContain('[DONE]');
    }
    expect(await whole).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
    const failed = await slotState(gateway, 'agent', 'error');
    expect(failed).toMatchObject({
      active: 0,
      pid: null,
      failure: { reason: expect.stringContaining('SIGKILL'), failures: 1, parked: false },
    });
    expect(failed.failure?.retry_at).toBeGreaterThan(Date.now() - 1000);
    const back = await slotState(gateway, 'agent', 'ready', undefined, 15_000);
    expect(back.pid).not.toBe(pid);
    expect(back.failure).toBeNull();
    expect((await say('agent')).status).toBe(200);
    expect((await ask(gateway, 'GET', '/api/health')).status).toBe(200);
    expect(alive(gateway.pid)).toBe(true);
  });

  it('while it is down and no sibling is healthy: 503 slot.failed with Retry-After and the reason; the catalogue stays', async () => {
    await slotDo(gateway, 'utility', 'load');
    for (const name of ['agent', 'utility']) {
      process.kill((await slotState(gateway, name, 'ready')).pid as number, 'SIGKILL');
      await slotState(gateway, name, 'error');
    }
    const refused = await say('agent');
    expect(refused).toMatchObject({ status: 503, code: 'slot.failed' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(refused.json()).toMatchObject({
      error: { details: { slot: 'agent', reason: expect.stringContaining('SIGKILL'), parked: false } },
    });
    expect((await ask(gateway, 'GET', '/v1/models/agent')).json()).toMatchObject({
      _svc: { state: 'error' },
    });
    const health = (await ask(gateway, 'GET', '/api/health/system')).json();
    expect(health).toMatchObject({ status: 'degraded', checks: { slots: { status: 'warning' } } });
    const loaded = await slotDo(gateway, 'agent', 'load');
    expect(loaded.json()).toMatchObject({ state: 'ready', failure: null });
    await slotDo(gateway, 'utility', 'unload');
  });
});

describe('load, unload and restart by an administrator', () => {
  it('P09 load is one start for many, and changes nothing on a slot that is loaded', async () => {
    await slotDo(gateway, 'utility', 'unload');
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => slotDo(gateway, 'utility', 'load')),
      say('utility'),
      say('utility'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const pids = answers.slice(0, 4).map((answer) => answer.json<SlotRecord>().pid);
    expect(new Set(pids).size).toBe(1);
    expect((await slotDo(gateway, 'utility', 'load')).json<SlotRecord>().pid).toBe(pids[0]);
  });

  it('unload ends the process, twice does no harm; the next request loads again', async () => {
    const { pid } = (await slotDo(gateway, 'utility', 'load')).json<SlotRecord>();
    expect((await slotDo(gateway, 'utility', 'unload')).json()).toMatchObject({
      state: 'offline',
      pid: null,
      failure: null,
    });
    expect(alive(pid as number)).toBe(false);
    expect((await slotDo(gateway, 'utility', 'unload')).json()).toMatchObject({ state: 'offline' });
    const answer = await say('utility');
    expect(answer.status).toBe(200);
    expect(answer.headers['x-svc-slot']).toBe('utility');
  });

  it('restart gives a new process', async () => {
    const before = (await slotDo(gateway, 'utility', 'load')).json<SlotRecord>();
    const after = (await slotDo(gateway, 'utility', 'restart')).json<SlotRecord>();
    expect(after.state).toBe('ready');
    expect(after.pid).not.toBe(before.pid);
    expect(alive(before.pid as number)).toBe(false);
  });

  it('a slot that is not there or is disabled', async () => {
    for (const action of ['load', 'unload', 'restart'] as const) {
      expect(await slotDo(gateway, 'nobody', action)).toMatchObject({ status: 404, code: 'slot.not_found' });
    }
    expect(await slotDo(gateway, 'resting', 'load')).toMatchObject({ status: 409, code: 'slot.disabled' });
    expect(await slotDo(gateway, 'resting', 'restart')).toMatchObject({ status: 409, code: 'slot.disabled' });
  });

  it('each act is in the audit trail', async () => {
    const { entries } = (await ask(gateway, 'GET', '/api/audit')).json<{ entries: { action: string }[] }>();
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['slot.load', 'slot.unload', 'slot.restart']),
    );
  });
});

describe('S08 a slot that is taken away while it answers', () => {
  it('unload drains: the stream ends whole, then the process goes', async () => {
    const { pid } = (await slotDo(gateway, 'utility', 'load')).json<SlotRecord>();
    const streamed = await flowing(gateway, 'utility', 4_000);
    const unloaded = slotDo(gateway, 'utility', 'unload');
    await slotState(gateway, 'utility', 'draining');
    expect(alive(pid as number)).toBe(true);
    expect(await streamed.ended).toBe(true);
    expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
    expect((await unloaded).json()).toMatchObject({ state: 'offline' });
    expect(alive(pid as number)).toBe(false);
  });

  it('a request that comes while it drains waits and is served by the next process', async () => {
    await slotDo(gateway, 'utility', 'load');
    const streamed = await flowing(gateway, 'utility', 4_000);
    const unloaded = slotDo(gateway, 'utility', 'unload');
    await slotState(gateway, 'utility', 'draining');
    const late = await say('utility');
    expect(late.status).toBe(200);
    expect(late.headers['x-svc-slot']).toBe('utility');
    expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
    await unloaded;
  });

  it('a caller who leaves while it drains frees it at once', async () => {
    await slotDo(gateway, 'utility', 'load');
    const streamed = await flowing(gateway, 'utility');
    const unloaded = slotDo(gateway, 'utility', 'unload');
    await slotState(gateway, 'utility', 'draining');
    streamed.leave();
    expect((await unloaded).json()).toMatchObject({ state: 'offline' });
  });
});
