/**
 * docs/spec/contract.md#slot-states: engines that die, or that are loaded, unloaded and restarted while
 * callers use them.
 */
import { describe, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { isAlive } from './harness/descendants.ts';
import { until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { runSlotAction, slot, waitForSlotState } from './harness/slots.ts';
import { dataOf, type StreamedResponse } from './harness/stream.ts';
import { ENDLESS, startLongStream, startTiny } from './harness/tiny-gateway.ts';

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
const chat = (model: string) =>
  send(gateway, 'POST', CHAT, { body: { model, messages: user('x'), ...greedy } });

const lastEvent = (streamed: StreamedResponse) => JSON.parse(dataOf(streamed.text()).at(-1) ?? '{}');

describe('S03 P03 an engine that is killed during responses', () => {
  it('ends every stream with an error event and no [DONE], fails a whole response with 502, and restarts automatically', async () => {
    const { pid } = await waitForSlotState(gateway, 'agent', 'ready');
    const streams = [await startLongStream(gateway, 'agent')];
    const whole = send(gateway, 'POST', CHAT, {
      body: { model: 'agent', messages: user(ENDLESS), temperature: 0 },
    });
    await until(async () => (await slot(gateway, 'agent')).active === 2, 'both to be running');
    process.kill(pid as number, 'SIGKILL');
    for (const streamed of streams) {
      expect(await streamed.ended).toBe(true);
      expect(lastEvent(streamed)).toMatchObject({
        error: { code: 'dispatch.upstream_unavailable', type: 'server_error', message: expect.any(String) },
      });
      expect(streamed.text()).not.toContain('[DONE]');
    }
    expect(await whole).toMatchObject({ status: 502, code: 'dispatch.upstream_unavailable' });
    const failed = await waitForSlotState(gateway, 'agent', 'error');
    expect(failed).toMatchObject({
      active: 0,
      pid: null,
      failure: { reason: expect.stringContaining('SIGKILL'), failures: 1, parked: false },
    });
    expect(failed.failure?.retry_at).toBeGreaterThan(Date.now() - 1000);
    const back = await waitForSlotState(gateway, 'agent', 'ready', undefined, 15_000);
    expect(back.pid).not.toBe(pid);
    expect(back.failure).toBeNull();
    expect((await chat('agent')).status).toBe(200);
    expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
    expect(isAlive(gateway.pid)).toBe(true);
  });

  it('while it is down and no sibling is healthy: 503 slot.failed with Retry-After and the reason; the model stays listed', async () => {
    await runSlotAction(gateway, 'utility', 'load');
    for (const name of ['agent', 'utility']) {
      process.kill((await waitForSlotState(gateway, name, 'ready')).pid as number, 'SIGKILL');
      await waitForSlotState(gateway, name, 'error');
    }
    const refused = await chat('agent');
    expect(refused).toMatchObject({ status: 503, code: 'slot.failed' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(refused.json()).toMatchObject({
      error: { details: { slot: 'agent', reason: expect.stringContaining('SIGKILL'), parked: false } },
    });
    expect((await send(gateway, 'GET', '/v1/models/agent')).json()).toMatchObject({
      _svc: { state: 'error' },
    });
    const health = (await send(gateway, 'GET', '/api/health/system')).json();
    expect(health).toMatchObject({ status: 'degraded', checks: { slots: { status: 'warning' } } });
    const loaded = await runSlotAction(gateway, 'agent', 'load');
    expect(loaded.json()).toMatchObject({ state: 'ready', failure: null });
    await runSlotAction(gateway, 'utility', 'unload');
  });
});

describe('load, unload and restart by an administrator', () => {
  it('P09 concurrent loads are one start, and a load of a loaded slot changes nothing', async () => {
    await runSlotAction(gateway, 'utility', 'unload');
    const responses = await Promise.all([
      ...Array.from({ length: 4 }, () => runSlotAction(gateway, 'utility', 'load')),
      chat('utility'),
      chat('utility'),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const pids = responses.slice(0, 4).map((response) => response.json<SlotRecord>().pid);
    expect(new Set(pids).size).toBe(1);
    expect((await runSlotAction(gateway, 'utility', 'load')).json<SlotRecord>().pid).toBe(pids[0]);
  });

  it('unload ends the process and can be repeated; the next request loads again', async () => {
    const { pid } = (await runSlotAction(gateway, 'utility', 'load')).json<SlotRecord>();
    expect((await runSlotAction(gateway, 'utility', 'unload')).json()).toMatchObject({
      state: 'offline',
      pid: null,
      failure: null,
    });
    expect(isAlive(pid as number)).toBe(false);
    expect((await runSlotAction(gateway, 'utility', 'unload')).json()).toMatchObject({ state: 'offline' });
    const response = await chat('utility');
    expect(response.status).toBe(200);
    expect(response.headers['x-svc-slot']).toBe('utility');
  });

  it('restart starts a new process', async () => {
    const before = (await runSlotAction(gateway, 'utility', 'load')).json<SlotRecord>();
    const after = (await runSlotAction(gateway, 'utility', 'restart')).json<SlotRecord>();
    expect(after.state).toBe('ready');
    expect(after.pid).not.toBe(before.pid);
    expect(isAlive(before.pid as number)).toBe(false);
  });

  it('an unknown or disabled slot is an error', async () => {
    for (const action of ['load', 'unload', 'restart'] as const) {
      expect(await runSlotAction(gateway, 'unknown', action)).toMatchObject({
        status: 404,
        code: 'slot.not_found',
      });
    }
    expect(await runSlotAction(gateway, 'resting', 'load')).toMatchObject({
      status: 409,
      code: 'slot.disabled',
    });
    expect(await runSlotAction(gateway, 'resting', 'restart')).toMatchObject({
      status: 409,
      code: 'slot.disabled',
    });
  });

  it('each action is in the audit trail', async () => {
    const { entries } = (await send(gateway, 'GET', '/api/audit')).json<{ entries: { action: string }[] }>();
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['slot.load', 'slot.unload', 'slot.restart']),
    );
  });
});

describe('S08 a slot that is unloaded during a response', () => {
  it('unload drains: the stream completes, then the process ends', async () => {
    const { pid } = (await runSlotAction(gateway, 'utility', 'load')).json<SlotRecord>();
    const streamed = await startLongStream(gateway, 'utility', 4_000);
    const unloaded = runSlotAction(gateway, 'utility', 'unload');
    await waitForSlotState(gateway, 'utility', 'draining');
    expect(isAlive(pid as number)).toBe(true);
    expect(await streamed.ended).toBe(true);
    expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
    expect((await unloaded).json()).toMatchObject({ state: 'offline' });
    expect(isAlive(pid as number)).toBe(false);
  });

  it('a request during the drain waits and is served by the next process', async () => {
    await runSlotAction(gateway, 'utility', 'load');
    const streamed = await startLongStream(gateway, 'utility', 4_000);
    const unloaded = runSlotAction(gateway, 'utility', 'unload');
    await waitForSlotState(gateway, 'utility', 'draining');
    const late = await chat('utility');
    expect(late.status).toBe(200);
    expect(late.headers['x-svc-slot']).toBe('utility');
    expect(streamed.text().endsWith('data: [DONE]\n\n')).toBe(true);
    await unloaded;
  });

  it('a disconnect during the drain frees it at once', async () => {
    await runSlotAction(gateway, 'utility', 'load');
    const streamed = await startLongStream(gateway, 'utility');
    const unloaded = runSlotAction(gateway, 'utility', 'unload');
    await waitForSlotState(gateway, 'utility', 'draining');
    streamed.disconnect();
    expect((await unloaded).json()).toMatchObject({ state: 'offline' });
  });
});
