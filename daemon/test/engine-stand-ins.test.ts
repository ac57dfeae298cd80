/**
 * docs/spec/contract.md#engines: vLLM, FastFlowLM and ComfyUI as the gateway calls them, against STAND-INS
 * that refuse what the real programs would refuse. What the real programs compute is not tested here.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alive } from './harness/descendants.ts';
import { follow } from './harness/follow.ts';
import { startGateway, until } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { type Answer, ask, said } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot, slotDo, slotState } from './harness/slots.ts';
import { writeStandIns } from './harness/stand-ins.ts';

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
      'config/slots/order.toml': 'engine = "vllm"\ntype = "rerank"\nmodel = "org/ranks"\n',
      'config/slots/npu.toml': flm('model = "llama3.2:1b"\n'),
      'config/slots/vectors.toml': flm('type = "embedding"\nmodel = "embed-gemma:300m"\n'),
      'config/slots/ear.toml': flm('type = "stt"\nmodel = "whisper-v3:turbo"\n'),
      'config/slots/second.toml': flm('model = "qwen3:0.6b"\n'),
      'config/slots/unknown.toml': flm('model = "nobody:1b"\n'),
      'config/slots/img.toml': `type = "image"\nengine = "comfyui"\nrunner = "process"\ncommand = [${JSON.stringify(join(bin, 'comfyui'))}]\ndevice = "cpu"\n`,
    },
  });
});

const post = (path: string, body: object) => ask(gateway, 'POST', path, { body });
const say = (model: string, content = 'x') => post(CHAT, { model, messages: [{ role: 'user', content }] });

describe('vLLM (stand-in)', () => {
  it('is started for its model by name, and asked under that name whatever the caller wrote', async () => {
    for (const model of ['big', 'org/Big-Model']) {
      expect(said(await say(model))).toBe('vllm stand-in: org/Big-Model');
    }
    const record = await slot(gateway, 'big');
    expect(record).toMatchObject({ engine: 'vllm', model: 'org/Big-Model', context: 2048, state: 'ready' });
  });

  it('ranks on its native path', async () => {
    const answer = await post('/v1/rerankings', { model: 'order', query: 'q', documents: ['a', 'b'] });
    expect(answer.json()).toEqual({
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
  function transcribe(): Promise<Answer> {
    const field = (name: string) => `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
    const body = `${field('model')}ear\r\n${field('file')}RIFF\r\n--xyz--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=xyz' };
    return ask(gateway, 'POST', '/v1/audio/transcriptions', { body, headers });
  }

  it('is one process for chat, vectors and transcription, asked by native tags and without a key', async () => {
    expect(said(await say('npu'))).toBe('flm stand-in: llama3.2:1b');
    const vectors = await post('/v1/embeddings', { model: 'vectors', input: 'x' });
    expect(vectors.json()).toMatchObject({ data: [{ embedding: [0.6, 0.8] }] });
    expect((await transcribe()).json()).toMatchObject({ text: 'flm stand-in heard' });
    const records = await Promise.all(['npu', 'vectors', 'ear'].map((name) => slot(gateway, name)));
    expect(new Set(records.map(({ pid }) => pid)).size).toBe(1);
    expect(records.map(({ device }) => device)).toEqual(['npu', 'npu', 'npu']);
  });

  it('passes its own numbers on and has its speed taken from them', async () => {
    const answer = await say('npu');
    expect(answer.json()).toMatchObject({
      usage: { prefill_duration_ttft: 0.2, kv_token_occupancy_rate_percentage: null },
    });
    await until(async () => (await slot(gateway, 'npu')).tokens_per_second === 41.5, 'its speed');
  });

  it.each([
    ['nothing', 502, 'The engine or upstream answered with nothing.'],
    ['too much', 400, 'Max length reached!'],
    ['full', 503, 'NPU is in use and request queue is full (limit: 10).'],
  ])('%s is an error with status %i', async (content, status, message) => {
    const answer = await say('npu', content);
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject({ error: { code: 'upstream.error', message } });
  });

  it('has one log that each of its slots shows as it comes, also over an older one of its own', async () => {
    writeFileSync(join(home, 'state/logs/npu.log'), 'written by an engine of before\n');
    for (const name of ['npu', 'ear']) {
      const stream = await follow(gateway, `/api/slots/${name}/logs`, {});
      await stream.next('its start', ({ data }) => data.includes('gateway: started'));
      appendFileSync(join(home, 'state/logs/@flm.log'), `live for ${name}\n`);
      await stream.next('what is new', ({ data }) => data.includes(`live for ${name}`));
      expect(stream.named('line')).not.toContainEqual({ text: 'written by an engine of before' });
      stream.leave();
    }
  });

  it('refuses a second chat model while the first is there, and takes it afterwards', async () => {
    await slotDo(gateway, 'npu', 'load');
    expect((await slotDo(gateway, 'second', 'load')).code).toBe('slot.failed');
    expect((await slot(gateway, 'second')).failure?.reason).toMatch(
      /^flm serves llama3\.2:1b for another slot/,
    );
    await slotDo(gateway, 'npu', 'unload');
    expect((await slotDo(gateway, 'second', 'load')).status).toBe(200);
    expect(said(await say('second'))).toBe('flm stand-in: qwen3:0.6b');
    await slotDo(gateway, 'second', 'unload');
  });

  it('a tag that it does not know is no slot that is ready', async () => {
    expect((await slotDo(gateway, 'unknown', 'load')).code).toBe('slot.failed');
    expect((await slot(gateway, 'unknown')).failure?.reason).toBe('The model list does not hold the model.');
  });

  it('ends with the last slot that uses it', async () => {
    const { pid } = await slot(gateway, 'vectors');
    await slotDo(gateway, 'vectors', 'unload');
    expect(alive(pid)).toBe(true);
    await slotDo(gateway, 'ear', 'unload');
    await until(() => !alive(pid), 'flm to be gone');
  });
});

describe('ComfyUI (stand-in)', () => {
  it('is started on the loopback address and is ready once it tells of its machine', async () => {
    expect((await slotDo(gateway, 'img', 'load')).status).toBe(200);
    // It may be `serving` first: the gateway reads the list of its models with a request of its own.
    const ready = await slotState(gateway, 'img', 'ready');
    expect(ready).toMatchObject({ engine: 'comfyui', context: null });
  });
});
