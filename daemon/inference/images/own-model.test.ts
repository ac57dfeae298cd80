import { expect, test } from 'vitest';
import type { Workflow } from '../../contract/workflow.ts';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import type { ImageSettings } from '../../slots/config/slot-config.ts';
import { assumedModel, isNamed, modelOfFile, ownImageModel } from './own-model.ts';

const settings = (more: Partial<ImageSettings> = {}): ImageSettings => ({
  ...{ family: null, checkpoint: null, vae: null, loras: [], defaults: {}, workflow: null },
  ...more,
});
const comfy = (model: string | null, imageSettings: ImageSettings | null = null) => ({
  ...{ engine: 'comfyui', model, imageSettings },
});

test.each([
  ['a built-in id', 'sdxl-turbo', 'sdxl-turbo', undefined],
  ['the file of a built-in model', 'v1-5-pruned.ckpt', 'sd15', undefined],
  ['a file that names its family', 'myFluxDev_v1.gguf', 'myFluxDev_v1.gguf', 'name'],
  ['a file that names none', 'dreams.safetensors', 'dreams.safetensors', 'assumed'],
])('the model of a slot with %s', (_, model, id, source) => {
  expect(ownImageModel(comfy(model))).toMatchObject({ id });
  expect(ownImageModel(comfy(model))?.familySource).toBe(source);
});

test('a name without a file is a model for the engine of one file only', () => {
  expect(ownImageModel(comfy('dreams'))).toBeNull();
  expect(ownImageModel({ engine: 'sd-server', model: 'dreams' })).toMatchObject({ familySource: 'assumed' });
  expect(ownImageModel({ engine: 'sd-server', model: null })).toBeNull();
  expect(ownImageModel({ engine: 'vllm', model: 'sdxl' })).toBeNull();
});

test('what the engine reported about a file counts before its name', () => {
  const reported = [modelOfFile('dreams.safetensors', { family: 'sdxl', source: 'header' })];
  expect(ownImageModel(comfy('dreams.safetensors'), reported)).toMatchObject({
    ...{ family: 'sdxl', familySource: 'header', width: 1024 },
  });
  const declared = settings({ family: 'flux' });
  expect(ownImageModel(comfy('dreams-schnell.safetensors', declared), reported)).toMatchObject({
    ...{ family: 'flux-schnell', familySource: 'slot' },
  });
});

test('the file of the settings counts before the model', () => {
  const own = settings({ checkpoint: 'SDXL/my_sdxl.safetensors' });
  expect(ownImageModel(comfy('sd15', own))).toMatchObject({ id: 'SDXL/my_sdxl.safetensors', family: 'sdxl' });
});

test('defaults of the slot file replace those of the model, within its bounds', () => {
  const model = curatedModel('sdxl-turbo') as ImageModel;
  const loras = [{ name: 'a.safetensors', strength: 1 }];
  const defaults = {
    steps: 90,
    cfg: 2,
    sampler: 'dpmpp_2m',
    scheduler: 'karras',
    clip_skip: 2,
    negative_prompt: 'n',
  };
  expect(ownImageModel(comfy('sdxl-turbo', settings({ defaults, loras, vae: 'v' })))).toEqual({
    ...model,
    ...{ steps: model.maxSteps, cfg: 2, sampler: 'dpmpp_2m', scheduler: 'karras' },
    options: { loras, vae: 'v', clipSkip: 2, negativePrompt: 'n' },
  });
  expect(ownImageModel(comfy('sdxl-turbo', settings()))).toEqual({
    ...model,
    options: { loras: [], vae: null, clipSkip: null, negativePrompt: '' },
  });
});

const workflow = (inputs: Record<string, unknown>): Workflow => ({
  graph: { '1': { class_type: 'Any', inputs: { text: 'x', ...inputs } } },
  mapping: {
    prompt: ['1.text'],
    ...Object.fromEntries(Object.keys(inputs).map((name) => [name, [`1.${name}`]])),
  },
});
const ownWorkflow = (inputs: Record<string, unknown>, defaults = {}, model: string | null = null) =>
  ownImageModel(
    comfy(
      model,
      settings({ defaults, workflow: { file: 'mine.json', inputs: {}, workflow: workflow(inputs) } }),
    ),
  );

test('a workflow of the owner has the values of its file', () => {
  const inputs = { width: 640, height: 384, steps: 12, cfg: 5, negative_prompt: 'n' };
  expect(ownWorkflow(inputs)).toMatchObject({
    ...{ id: 'mine.json', family: 'workflow', familySource: 'slot', checkpoints: [] },
    ...{ width: 640, height: 384, steps: 12, cfg: 5, takes: { cfg: true, negative: true } },
  });
  expect(ownWorkflow(inputs, { steps: 7, cfg: 1 }, 'named')).toMatchObject({ id: 'named', steps: 7, cfg: 1 });
});

test.each([
  ['has none', {}],
  ['has numbers out of range', { width: 63, height: 2049, steps: 151, cfg: 31 }],
  ['has negative numbers', { width: -1, height: -1, steps: 0, cfg: -1 }],
  ['links them', { width: ['2', 0], height: 512.5, steps: '3', cfg: ['2', 0] }],
])('a workflow that %s has the values of its family', (_, inputs) => {
  const { width, height, steps, cfg } = curatedModel('sd15') as ImageModel;
  expect(ownWorkflow(inputs)).toMatchObject({ width, height, steps, cfg });
  expect(ownWorkflow(inputs)?.takes).toEqual({ cfg: 'cfg' in inputs, negative: false });
});

test('a workflow that was not read yet leaves the model of the slot', () => {
  const unread = settings({ workflow: { file: 'mine.json', inputs: {}, workflow: null } });
  expect(ownImageModel(comfy('sdxl', unread))).toMatchObject({ id: 'sdxl' });
});

test.each([
  ['sdxl', true],
  ['SDXL-Base', true],
  ['folder/sd_xl_base_1.0.safetensors', true],
  ['sdxl-turbo', false],
  ['', false],
])('%j means SDXL: %j', (name, expected) => {
  expect(isNamed(curatedModel('sdxl') as ImageModel, name)).toBe(expected);
});

test('the file of a diffusion model alone is no checkpoint', () => {
  const part = modelOfFile('a.gguf', { family: 'flux-dev', source: 'header', isDiffusionModel: true });
  expect([part.checkpoints, part.diffusionModels]).toEqual([[], ['a.gguf']]);
  expect(assumedModel('a.safetensors')).toMatchObject({
    checkpoints: ['a.safetensors'],
    diffusionModels: [],
  });
});
