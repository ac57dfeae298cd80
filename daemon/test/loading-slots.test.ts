/**
 * docs/spec/contract.md#load-wait and docs/spec/contract.md#admission: what callers see while a model loads,
 * when the load takes too long, and when a slot gets less than it requested.
 */
import { copyFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { writeOtherProgram } from '../slots/testing/other-program.ts';
import { isAlive } from './harness/descendants.ts';
import { startGateway, until } from './harness/gateway.ts';
import { newHome, putModel } from './harness/home.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot, waitForSlotState } from './harness/slots.ts';
import { contentOf, dataOf, openStream } from './harness/stream.ts';
import { startTiny, tinyModel } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';
const MIB = 1024 ** 2;
const home = newHome();
/** Slot `slow` finishes its load when this file exists. */
const ready = join(home, 'ready');

const gateway = new OneGateway(() => {
  const listen = ['--host', '{host}', '--port', '{port}', '--until', ready];
  const command = JSON.stringify([process.execPath, writeOtherProgram(home), ...listen]);
  return startTiny({
    home,
    files: {
      'config/config.toml': '[slots]\nqueue_max = 2\n',
      'config/slots/slow.toml': `engine = "custom"\ncommand = ${command}\nmodel = "slow-model"\n`,
      'config/slots/wide.toml': 'model = "tiny"\ncontext = 100000\n',
      'config/slots/gpu.toml': 'model = "tiny"\ndevice = "cuda:7"\n',
    },
  });
});
beforeEach(async () => {
  await send(gateway, 'POST', '/api/slots/slow/unload');
  rmSync(ready, { force: true });
});

const user = [{ role: 'user', content: 'x' }];
const changeSettings = async (values: object) => {
  const response = await send(gateway, 'PUT', '/api/settings', { body: { values } });
  expect(response.status, response.text).toBe(200);
};
const chat = (model: string, more: object = {}) =>
  send(gateway, 'POST', CHAT, { body: { model, messages: user, max_tokens: 2, ...more } });
const stream = (model: string) => openStream(gateway, CHAT, { model, messages: user, stream: true });
const finishLoad = () => writeFileSync(ready, '');
const comments = (text: string) => text.split(': loading\n\n').length - 1;

describe('a streaming caller of a slot that loads', () => {
  it('gets 200 after three seconds and a comment every ten, then the response of the engine, byte for byte', async () => {
    const since = performance.now();
    const streamed = await stream('slow');
    expect(performance.now() - since).toBeGreaterThan(2_900);
    expect([streamed.status, streamed.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(streamed.headers['x-svc-slot']).toBe('slow');
    await until(() => comments(streamed.text()) === 2, 'the second comment', 15_000);
    expect(performance.now() - since).toBeGreaterThan(12_900);
    finishLoad();
    expect(await streamed.ended).toBe(true);
    expect(streamed.text()).toMatch(/^(: loading\n\n){2}data: \{.*\}\n\ndata: \[DONE\]\n\n$/);
    expect(contentOf(streamed.text().replaceAll(': loading\n\n', ''))).toContain('(slow-model)');
  });

  it('gets an error event when the load fails', async () => {
    const streamed = await stream('slow');
    process.kill((await slot(gateway, 'slow')).pid as number, 'SIGKILL');
    expect(await streamed.ended).toBe(true);
    expect(JSON.parse(dataOf(streamed.text()).at(-1) ?? '')).toMatchObject({
      error: { code: 'slot.failed', details: { slot: 'slow', reason: expect.stringContaining('SIGKILL') } },
    });
    expect(streamed.text()).not.toContain('[DONE]');
  });

  it('gets only the response when the load is quick', async () => {
    finishLoad();
    const streamed = await stream('slow');
    expect(await streamed.ended).toBe(true);
    expect(comments(streamed.text())).toBe(0);
  });

  it('gets a real status for an unknown model, a full queue and no memory', async () => {
    expect((await stream('unknown-model')).status).toBe(404);
    const waiting = [chat('slow'), chat('slow')];
    await until(async () => (await slot(gateway, 'slow')).queued === 2, 'the queue to be full');
    expect((await stream('slow')).status).toBe(429);
    finishLoad();
    for (const response of await Promise.all(waiting)) expect(response.status).toBe(200);
    await changeSettings({ memoryLimit: 1_000_000 });
    const refused = await stream('wide');
    await changeSettings({ memoryLimit: 0 });
    expect(refused.status).toBe(507);
    await refused.ended;
    expect(JSON.parse(refused.text())).toMatchObject({ error: { code: 'slot.no_memory' } });
  });
});

describe('a load that exceeds the wait limit of its callers', () => {
  it('is 503 slot.loading with Retry-After, an error event in a stream, and is stopped once no caller waits', async () => {
    await changeSettings({ loadWaitS: 1, loadWaitStreamS: 5 });
    const streamed = stream('slow');
    const refused = await chat('slow');
    expect(refused).toMatchObject({ status: 503, code: 'slot.loading' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(refused.json()).toMatchObject({ error: { details: { slot: 'slow', progress: null } } });
    const { state, pid } = await slot(gateway, 'slow');
    expect(state, 'the other request still waits').toBe('starting');
    const { ended, text } = await streamed;
    expect(await ended).toBe(true);
    expect(JSON.parse(dataOf(text()).at(-1) ?? '')).toMatchObject({ error: { code: 'slot.loading' } });
    expect(await waitForSlotState(gateway, 'slow', 'offline')).toMatchObject({ failure: null, queued: 0 });
    expect(isAlive(pid)).toBe(false);
    await changeSettings({ loadWaitS: 300, loadWaitStreamS: 600 });
    finishLoad();
    expect((await chat('slow')).status).toBe(200);
  });
});

describe('slot agent without a configured model', () => {
  it('uses the largest model that fits into slots.memory_limit', async () => {
    const other = newHome();
    const tiny = putModel(other, 'tiny', tinyModel());
    const large = join(dirname(tiny), 'large.gguf');
    copyFileSync(tiny, large);
    truncateSync(large, 700 * MIB);
    const small = await startGateway({ home: other, env: { SVC_MEMORY_LIMIT: String(900 * MIB) } });
    try {
      const chatOptions = { body: { model: 'agent', messages: user, max_tokens: 2 } };
      expect((await send(small, 'POST', CHAT, chatOptions)).headers['x-svc-model']).toBe('tiny');
    } finally {
      await small.stop();
      small.remove();
    }
  });
});

describe('a degraded slot', () => {
  it('is reported in every response, the record and the metrics; a full slot reports nothing', async () => {
    const degraded = await chat('wide');
    expect(degraded.status).toBe(200);
    expect(degraded.headers['x-svc-degraded']).toMatch(/65536 tokens instead of 100000/);
    const streamed = await stream('wide');
    streamed.disconnect();
    expect(streamed.headers['x-svc-degraded']).toBe(degraded.headers['x-svc-degraded']);
    expect((await slot(gateway, 'wide')).degraded).toBe(degraded.headers['x-svc-degraded']);
    const full = await chat('agent');
    expect([full.status, full.headers['x-svc-degraded']]).toEqual([200, undefined]);
    const { text } = await send(gateway, 'GET', '/api/metrics/prometheus');
    expect(text).toMatch(/^svc_slot_degraded\{slot="wide"\} 1$/m);
    expect(text).toMatch(/^svc_slot_degraded\{slot="agent"\} 0$/m);
  });

  it('fails for a device that does not exist; a sibling with the same model serves and is named', async () => {
    const served = await chat('gpu');
    expect(served.status).toBe(200);
    expect(served.headers['x-svc-slot']).not.toBe('gpu');
    expect(served.headers['x-svc-model']).toBe('tiny');
    const { state, failure } = await slot(gateway, 'gpu');
    expect(state).toBe('error');
    expect(failure?.reason).toMatch(/cuda/i);
  });
});
