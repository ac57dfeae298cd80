import { describe, expect, it } from 'vitest';
import type { SlotConfig } from '../config/slot-config.ts';
import { readSlotFile } from '../config/slot-file.ts';
import { embedded } from './embedded.ts';
import type { SlotModel } from './engine.ts';
import { ENGINES, slotObjection } from './table.ts';

const config = (text = ''): SlotConfig => readSlotFile('agent.toml', text).config as SlotConfig;
const model: SlotModel = {
  id: 'small',
  path: '/m/small.gguf',
  type: 'llm',
  demo: false,
  sizeBytes: 2e9,
  contextTrain: 4096,
};
const plan = (text = '', over: Partial<SlotModel> = {}) =>
  embedded.plan({ config: config(text), model: { ...model, ...over }, threads: 3, queueLimit: 8 });

describe('embedded.plan', () => {
  it('returns the complete launch', () => {
    expect(plan('parallel = 3')).toEqual({
      slot: 'agent',
      engine: 'embedded',
      type: 'llm',
      modelId: 'small',
      modelPath: '/m/small.gguf',
      demo: false,
      context: 4096,
      parallel: 3,
      sequences: 3,
      batch: 512,
      threads: 3,
      device: 'auto',
      env: {},
      speculation: { way: 'off', reason: expect.stringMatching(/^Not measured/) },
      startLimitMs: 160_000,
      degraded: null,
      dialect: { nativeRerank: true, model: 'small', laterSystem: true },
      how: {
        runner: 'worker',
        program: 'llama',
        settings: {
          kind: 'chat',
          modelPath: '/m/small.gguf',
          modelId: 'small',
          context: 4096,
          parallel: 3,
          threads: 3,
          device: 'auto',
          gpuLayers: null,
          batch: 512,
          queueLimit: 8,
          ngramTokens: 0,
        },
      },
    });
  });

  it.each([
    ['', 4096, 4096],
    ['', 131_072, 8192],
    ['', null, 8192],
    ['context = 2048', 131_072, 2048],
    ['context = 32768', 131_072, 32_768],
  ])('window of %j with a model of %s tokens is %i', (text, contextTrain, context) => {
    expect(plan(text, { contextTrain })).toMatchObject({ context, degraded: null });
  });

  it('uses the batch of the slot file, within the window', () => {
    expect(plan('batch = 2048').batch).toBe(2048);
    expect(plan('batch = 2048', { contextTrain: 1024 }).batch).toBe(1024);
  });

  it.each(['embedding', 'rerank'])('type %s evaluates its one window in one step', (type) => {
    expect(plan(`type = "${type}"\nparallel = 3`, { contextTrain: 2048 })).toMatchObject({
      type,
      how: { settings: { kind: type } },
      context: 2048,
      batch: 2048,
      parallel: 3,
      sequences: 1,
    });
  });

  it('a window that the model cannot have is reported as degraded', () => {
    const launch = plan('context = 9000');
    expect(launch.context).toBe(4096);
    expect(launch.degraded).toContain('4096 tokens instead of 9000');
  });

  it('runs the demonstration model on the CPU unless a card is named', () => {
    const devices = ['auto', 'cpu', 'vulkan'].map(
      (device) => plan(`device = "${device}"`, { demo: true }).device,
    );
    expect(devices).toEqual(['cpu', 'cpu', 'vulkan']);
    expect(plan('device = "auto"').device).toBe('auto');
  });

  it('selects one device of a backend by variable', () => {
    expect(plan('device = "vulkan:1"')).toMatchObject({
      device: 'vulkan',
      env: { GGML_VK_VISIBLE_DEVICES: '1' },
    });
  });

  it('the start limit of a huge model is bounded', () => {
    expect(plan('', { sizeBytes: 1e13 }).startLimitMs).toBe(1_800_000);
  });
});

describe('embedded.checks', () => {
  const [health, models, completion] = embedded.checks(plan());

  it.each([
    [health, 200, '{"status":"ok"}', null],
    [health, 503, '{"status":"loading"}', 'The health check answered with status 503'],
    [models, 200, '{"data":[{"id":"other"},{"id":"small"}]}', null],
    [models, 200, '{"data":[{"id":"other"},null]}', 'The model list does not contain the model'],
    [models, 200, 'x', 'The model list does not contain the model'],
    [models, 401, '{}', 'The model list answered with status 401'],
    [completion, 200, '{"choices":[{}]}', null],
    [completion, 200, '[]', 'The test completion has no choice'],
    [completion, 500, '{}', 'The trial completion answered with status 500'],
  ])('case %#', (check, status, body, verdict) => {
    expect(check?.verdict(status, body)).toBe(verdict);
  });

  const trial = (type: string) => embedded.checks(plan(`type = "${type}"`))[2];

  it.each([
    ['embedding', 200, '{"data":[{"embedding":[0.5,1]}]}', null],
    ['embedding', 200, '{"data":[{"embedding":[]}]}', 'The test embedding has no vector'],
    ['embedding', 200, '{"data":[{"embedding":[null]}]}', 'The test embedding has no vector'],
    ['embedding', 200, '{"data":[]}', 'The test embedding has no vector'],
    ['embedding', 500, '{}', 'The trial embedding answered with status 500'],
    ['rerank', 200, '{"results":[{"relevance_score":-3.5}]}', null],
    ['rerank', 200, '{"results":[{"relevance_score":null}]}', 'The test rerank has no score'],
    ['rerank', 200, '[]', 'The test rerank has no score'],
    ['rerank', 501, '{}', 'The trial rerank answered with status 501'],
  ])('%s, %i %s: %s', (type, status, body, verdict) => {
    expect(trial(type)?.verdict(status, body)).toBe(verdict);
  });

  it.each([
    ['llm', '/v1/chat/completions'],
    ['embedding', '/v1/embeddings'],
    ['rerank', '/v1/rerank'],
  ])('type %s is checked at %s with the model id', (type, path) => {
    expect(trial(type)).toMatchObject({ method: 'POST', path, body: { model: 'small' } });
  });
});

const KNOWN = ENGINES.map(({ id }) => id).join(', ');

describe('slotObjection', () => {
  it.each([
    ['', null],
    ['device = "cuda:0"', null],
    ['engine = "warp"', `engine: there is no engine "warp" (known: ${KNOWN})`],
    ['type = "image"', 'type: engine embedded serves llm, embedding, rerank, not image'],
    ['runner = "container"', 'runner: engine embedded runs under worker, not container'],
    ['batch = 64', null],
    ['type = "rerank"\nbatch = 64', 'batch: engine embedded reads each text of such a slot in one step'],
    ['extra_args = ["-x"]', 'extra_args: engine embedded does not support arguments'],
    ['device = "npu"', 'device: engine embedded runs on auto, cpu, vulkan:N or cuda:N, not on npu'],
  ])('%j: %s', (text, objection) => expect(slotObjection(config(text))).toBe(objection));
});
