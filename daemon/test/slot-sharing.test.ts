/** docs/spec/contract.md#shared-engines over a real port: two slots, one file, one engine. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../contract/models.ts';
import { SlotPlan, SlotView } from '../contract/slots.ts';
import type { ExplainView } from '../contract/system.ts';
import { startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { runSlotAction, slot, slots } from './harness/slots.ts';
import { envFor, svcctl } from './harness/svcctl.ts';

/** The demonstration model, in `agent` by its automatic choice and in two slots by their files. */
const MODEL = 'model = "svc-demo"\n';
const gateway = new OneGateway(() =>
  startGateway({
    files: {
      'config/slots/agent.toml': 'autoload = false\n',
      'config/slots/primary.toml': `${MODEL}idle_unload = 0\n`,
      'config/slots/second.toml': MODEL,
    },
  }),
);
type ChatUsage = { usage: { prompt_tokens: number } };
const NAMES = ['agent', 'primary', 'second'];

const chat = (model: string) =>
  send(gateway, 'POST', '/v1/chat/completions', {
    idleTimeoutMs: 60_000,
    body: { model, messages: [{ role: 'user', content: 'Hello' }], seed: 7, temperature: 1, max_tokens: 12 },
  });
const logs = () => NAMES.filter((name) => existsSync(join(gateway.home, 'state', 'logs', `${name}.log`)));
const metrics = async () => (await send(gateway, 'GET', '/api/metrics/prometheus')).text;

describe('three slots with the demonstration model', () => {
  beforeEach(async () => {
    for (const name of NAMES) await runSlotAction(gateway, name, 'unload');
  });

  it('answer from one process, whose memory counts once', async () => {
    const answers = await Promise.all(NAMES.map(chat));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ headers }) => headers['x-svc-slot'])).toEqual(NAMES);
    // Each slot was sent the same prompt. The words of concurrent answers depend on their batches.
    const prompts = answers.map((answer) => answer.json<ChatUsage>().usage.prompt_tokens);
    expect(new Set(prompts).size).toBe(1);
    expect(prompts[0]).toBeGreaterThan(0);
    const records = (await slots(gateway)).filter(({ name }) => NAMES.includes(name));
    expect(new Set(records.map(({ pid }) => pid)).size).toBe(1);
    expect(records[0]?.pid).toBeGreaterThan(1);
    expect(records.filter(({ memory }) => memory !== null)).toHaveLength(1);
    expect(records.map(({ state }) => state)).toEqual(['ready', 'ready', 'ready']);
    for (const record of records) {
      expect(SlotView.parse(record)).toEqual(record);
      expect(record.shared_engine?.with).toEqual(NAMES.filter((name) => name !== record.name));
      expect(record.shared_engine?.used_by.toSorted()).toEqual(NAMES);
    }
    const { data } = (await send(gateway, 'GET', '/v1/models')).json<{ data: V1ModelRecord[] }>();
    for (const name of NAMES) {
      const others = NAMES.filter((other) => other !== name);
      expect(data.find(({ id }) => id === name)?._svc).toMatchObject({ slot: name, shares: others });
    }
    expect(logs()).toEqual([records[0]?.shared_engine?.slot]);
    expect((await metrics()).match(/^svc_slot_memory_bytes\{/gm)).toHaveLength(1);
  });

  it('an unload of one leaves the engine to the others and says so; a request is answered', async () => {
    await runSlotAction(gateway, 'primary', 'load');
    await runSlotAction(gateway, 'second', 'load');
    const { pid } = await slot(gateway, 'second');
    const env = envFor(gateway);
    const { out, code } = await svcctl(['slots', 'unload', 'primary'], { env });
    expect({ out, code }).toEqual({
      out: 'primary is ready, model svc-demo.\nThe engine stays loaded for second.\n',
      code: 0,
    });
    expect(await slot(gateway, 'second')).toMatchObject({ state: 'ready', pid });
    expect((await chat('primary')).status).toBe(200);
    expect(await slot(gateway, 'primary')).toMatchObject({ pid, shared_engine: { slot: 'primary' } });
    expect((await svcctl(['status'], { env })).out).toMatch(/second +ready.*Shares its engine with/);
    expect((await svcctl(['slots'], { env })).out).toContain(
      'second: Shares its engine with agent and primary.',
    );
  });

  it('plan and explain name the engine, and the log of each is that of the engine', async () => {
    await runSlotAction(gateway, 'primary', 'load');
    const plan = (await send(gateway, 'GET', '/api/slots/second/plan')).json<unknown>();
    expect(SlotPlan.parse(plan)).toMatchObject({
      shares_engine_of: 'primary',
      forecast: { outcome: 'starts', evicts: [] },
    });
    const explained = await send(gateway, 'POST', '/api/dispatch/explain', {
      body: { path: '/v1/chat/completions', model: 'second' },
    });
    expect(explained.json<ExplainView>()).toMatchObject({
      slot: 'second',
      shares_engine_of: 'primary',
      would_load: false,
      load: null,
      error: null,
    });
    const log = await send(gateway, 'GET', '/api/slots/second/logs?follow=false');
    expect(log.text).toContain('started svc-demo');
  });

  it('the others are served after the slot that loaded it is changed and restarted', async () => {
    await runSlotAction(gateway, 'primary', 'load');
    await runSlotAction(gateway, 'second', 'load');
    const change = (parallel: number | null) =>
      send(gateway, 'PUT', '/api/slots/primary', { body: { parallel } });
    expect((await change(1)).status).toBe(200);
    await runSlotAction(gateway, 'primary', 'restart');
    expect((await chat('second')).status).toBe(200);
    const [primary, second] = [await slot(gateway, 'primary'), await slot(gateway, 'second')];
    expect(primary.shared_engine).toBeUndefined();
    expect(primary).toMatchObject({ state: 'ready', parallel: 1 });
    expect(second.pid).not.toBe(primary.pid);
    expect((await change(null)).status).toBe(200);
  });
});
