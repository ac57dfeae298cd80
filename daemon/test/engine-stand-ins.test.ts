/**
 * docs/spec/contract.md#engines: vLLM, FastFlowLM and ComfyUI as the gateway calls them, against STAND-INS
 * that reject what the real programs would reject. The output of the real programs is not tested here.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SlotPlanView } from '../contract/slots.ts';
import { processTree } from '../lib/process/process-memory.ts';
import { isAlive } from './harness/descendants.ts';
import { follow } from './harness/follow-events.ts';
import { startGateway, until } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { type HttpResponse, replyText, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { runSlotAction, slot, waitForSlotState } from './harness/slots.ts';
import { VLLM_WORKER_BYTES, writeStandIns } from './harness/stand-ins.ts';

const CHAT = '/v1/chat/completions';
const home = newHome();
const gateway = new OneGateway(() => {
  const bin = writeStandIns(join(home, 'bin'));
  const flm = (text: string) => `engine = "flm"\n${text}`;
  return startGateway({
    home,
    env: { PATH: [bin, process.env.PATH].join(delimiter) },
    files: {
      'config/slots/agent.toml': 'autoload = false\n',
      'config/slots/big.toml': 'engine = "vllm"\nmodel = "org/Big-Model"\ncontext = 2048\n',
      'config/slots/asleep.toml':
        'engine = "vllm"\nmodel = "org/asleep"\n[env]\nVLLM_SERVER_DEV_MODE = "1"\nVLLM_TEST_SLEEPING = "1"\n',
      'config/slots/awake.toml': 'engine = "vllm"\nmodel = "org/awake"\n[env]\nVLLM_SERVER_DEV_MODE = "1"\n',
      'config/slots/order.toml': 'engine = "vllm"\ntype = "rerank"\nmodel = "org/ranks"\n',
      'config/slots/npu.toml': flm('model = "llama3.2:1b"\n'),
      'config/slots/vectors.toml': flm('type = "embedding"\nmodel = "embed-gemma:300m"\n'),
      'config/slots/ear.toml': flm('type = "stt"\nmodel = "whisper-v3:turbo"\n'),
      'config/slots/second.toml': flm('model = "qwen3:0.6b"\n'),
      'config/slots/unknown.toml': flm('model = "unlisted:1b"\n'),
      'config/slots/img.toml': `type = "image"\nengine = "comfyui"\nrunner = "process"\ncommand = [${JSON.stringify(join(bin, 'comfyui'))}]\ndevice = "cpu"\n`,
    },
  });
});

const post = (path: string, body: object) => send(gateway, 'POST', path, { body });
const chat = (model: string, content = 'x') => post(CHAT, { model, messages: [{ role: 'user', content }] });

describe('vLLM (stand-in)', () => {
  it('is started with the model name and requested under that name, for every alias of the caller', async () => {
    for (const model of ['big', 'org/Big-Model']) {
      expect(replyText(await chat(model))).toBe('vllm stand-in: org/Big-Model');
    }
    const record = await slot(gateway, 'big');
    expect(record).toMatchObject({ engine: 'vllm', model: 'org/Big-Model', context: 2048, state: 'ready' });
  });

  it('is measured with all its processes, and ends with them', async () => {
    expect((await chat('awake')).status).toBe(200);
    const { pid } = await slot(gateway, 'awake');
    const pids = processTree(pid as number);
    expect(pids).toHaveLength(2);
    const shown = async () => (await slot(gateway, 'awake')).memory_bytes ?? 0;
    await until(async () => (await shown()) > VLLM_WORKER_BYTES, 'the memory of its worker');
    const need = async () => (await send(gateway, 'GET', '/api/slots/awake/plan')).json<SlotPlanView>().need;
    await until(async () => (await need()).source === 'measured', 'a measurement');
    expect((await need()).total).toBeGreaterThan(VLLM_WORKER_BYTES);
    await runSlotAction(gateway, 'awake', 'unload');
    await until(() => !pids.some(isAlive), 'its processes to end');
  });

  it('is not ready while it sleeps', async () => {
    const response = await chat('asleep');
    expect(response.status).toBe(503);
    expect(response.text).toContain('sleep mode');
  });

  it('reranks on its native path', async () => {
    const response = await post('/v1/rerankings', { model: 'order', query: 'q', documents: ['a', 'b'] });
    expect(response.json()).toEqual({
      object: 'list',
      model: 'org/ranks',
      results: [
        { index: 0, relevance_score: 1 },
        { index: 1, relevance_score: 0.5 },
      ],
      usage: { prompt_tokens: 0, total_tokens: 0 },
    });
  });
});

describe('FastFlowLM (stand-in)', () => {
  function transcribe(): Promise<HttpResponse> {
    const field = (name: string) => `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
    const body = `${field('model')}ear\r\n${field('file')}RIFF\r\n--xyz--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=xyz' };
    return send(gateway, 'POST', '/v1/audio/transcriptions', { body, headers });
  }

  it('is one process for chat, embeddings and transcription, requested with native tags and without a key', async () => {
    expect(replyText(await chat('npu'))).toBe('flm stand-in: llama3.2:1b');
    const vectors = await post('/v1/embeddings', { model: 'vectors', input: 'x' });
    expect(vectors.json()).toMatchObject({ data: [{ embedding: [0.6, 0.8] }] });
    expect((await transcribe()).json()).toMatchObject({ text: 'flm stand-in heard' });
    const records = await Promise.all(['npu', 'vectors', 'ear'].map((name) => slot(gateway, name)));
    expect(new Set(records.map(({ pid }) => pid)).size).toBe(1);
    expect(records.map(({ device }) => device)).toEqual(['npu', 'npu', 'npu']);
  });

  it('returns its own figures, and the slot reports the speed from them', async () => {
    const response = await chat('npu');
    expect(response.json()).toMatchObject({
      usage: { prefill_duration_ttft: 0.2, kv_token_occupancy_rate_percentage: null },
    });
    await until(async () => (await slot(gateway, 'npu')).tokens_per_second === 41.5, 'its speed');
  });

  it.each([
    ['nothing', 502, 'The engine of slot npu answered with nothing.'],
    ['too much', 400, 'Max length reached!'],
    ['full', 503, 'Slot npu: NPU is in use and request queue is full (limit: 10).'],
  ])('%s is an error with status %i', async (content, status, message) => {
    const response = await chat('npu', content);
    expect(response.status).toBe(status);
    expect(response.json()).toMatchObject({ error: { code: 'upstream.error', message } });
  });

  it('has one live log for all its slots, which replaces an older log of the slot', async () => {
    writeFileSync(join(home, 'state/logs/npu.log'), 'written by an earlier engine\n');
    for (const name of ['npu', 'ear']) {
      const stream = await follow(gateway, `/api/slots/${name}/logs`, {});
      await stream.next('its start', ({ data }) => data.includes('gateway: started'));
      appendFileSync(join(home, 'state/logs/@flm.log'), `live for ${name}\n`);
      await stream.next('what is new', ({ data }) => data.includes(`live for ${name}`));
      expect(stream.named('line')).not.toContainEqual({ text: 'written by an earlier engine' });
      stream.disconnect();
    }
  });

  it('rejects a second chat model while the first is loaded, and accepts it afterwards', async () => {
    await runSlotAction(gateway, 'npu', 'load');
    expect((await runSlotAction(gateway, 'second', 'load')).code).toBe('slot.failed');
    expect((await slot(gateway, 'second')).failure?.reason).toMatch(
      /^flm serves llama3\.2:1b for another slot/,
    );
    await runSlotAction(gateway, 'npu', 'unload');
    expect((await runSlotAction(gateway, 'second', 'load')).status).toBe(200);
    expect(replyText(await chat('second'))).toBe('flm stand-in: qwen3:0.6b');
    await runSlotAction(gateway, 'second', 'unload');
  });

  it('a slot with an unknown tag fails', async () => {
    expect((await runSlotAction(gateway, 'unknown', 'load')).code).toBe('slot.failed');
    expect((await slot(gateway, 'unknown')).failure?.reason).toBe(
      'The model list does not contain the model.',
    );
  });

  it('ends with the last slot that uses it', async () => {
    const { pid } = await slot(gateway, 'vectors');
    await runSlotAction(gateway, 'vectors', 'unload');
    expect(isAlive(pid)).toBe(true);
    await runSlotAction(gateway, 'ear', 'unload');
    await until(() => !isAlive(pid), 'flm to be gone');
  });
});

describe('ComfyUI (stand-in)', () => {
  it('is started on the loopback address and is ready once /system_stats responds', async () => {
    expect((await runSlotAction(gateway, 'img', 'load')).status).toBe(200);
    // It may be `serving` first: the gateway reads the list of its models with a separate request.
    const ready = await waitForSlotState(gateway, 'img', 'ready');
    expect(ready).toMatchObject({ engine: 'comfyui', context: null });
  });
});
