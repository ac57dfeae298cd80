import { describe, expect, it, test } from 'vitest';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import { FAMILIES, type ImageFamily } from '../../models/images/families.ts';
import {
  type Installed,
  type Prompt,
  type PromptNode,
  validatePrompt,
} from '../../test/harness/comfy-nodes.ts';
import type { Drawing } from './drawing.ts';
import { modelOfFile } from './own-model.ts';
import { type Weights, workflowGraph } from './workflow-graph.ts';

const drawing = (id: string, more: Partial<Drawing> = {}): Drawing => {
  const model = curatedModel(id) as ImageModel;
  const { width, height, steps, cfg } = model;
  const common = { prompt: 'a cat', negativePrompt: 'dogs', count: 2, seed: 7 };
  return { model, width, height, steps, cfg, ...common, ...more };
};
const checkpoint: Weights = { by: 'checkpoint', file: 'w.safetensors', encoders: null, vae: null };
const split: Weights = {
  by: 'diffusion-model',
  file: 'u',
  encoders: { clip_name1: 't', clip_name2: 'c' },
  vae: 'v',
};
/** Every published file of a model, as a complete installation of ComfyUI lists them. */
const INSTALLED: Installed = {
  checkpoints: ['w.safetensors'],
  diffusion_models: ['u'],
  text_encoders: ['t', 'c'],
  vae: ['v'],
  loras: ['l.safetensors'],
};

/** Returns the weights of a model that is installed in parts. */
function partsOf({ encoders }: ImageModel): Weights {
  const inputs = Object.keys(encoders?.files ?? {});
  return {
    by: 'diffusion-model',
    file: 'u',
    encoders: Object.fromEntries(inputs.map((name) => [name, 't'])),
    vae: 'v',
  };
}

const FAMILY_NAMES = Object.keys(FAMILIES) as ImageFamily[];

describe.each(FAMILY_NAMES)('%s', (family) => {
  const model = modelOfFile('w.safetensors', { family, source: 'slot' });
  const request = { ...drawing('sd15'), model, steps: model.steps, cfg: model.cfg };

  it('is a workflow that ComfyUI takes', () => {
    const graph = workflowGraph(request, checkpoint);
    expect(validatePrompt(graph as unknown as Prompt, INSTALLED)).toEqual({ error: null, node_errors: {} });
  });

  it('is one from separate files, with LoRAs, decoder, skipped layers and the largest values', () => {
    const loras = [{ name: 'l.safetensors', strength: 0.5 }];
    const options = { loras, vae: 'v', clipSkip: 2, negativePrompt: '' };
    const most = {
      seed: Number.MAX_SAFE_INTEGER,
      steps: model.maxSteps,
      cfg: 30,
      count: 8,
      width: 2048,
      height: 2048,
    };
    const weights = model.encoders === null ? { ...checkpoint, vae: 'v' } : partsOf(model);
    const graph = workflowGraph({ ...request, ...most, model: { ...model, options } }, weights);
    expect(validatePrompt(graph as unknown as Prompt, INSTALLED)).toEqual({ error: null, node_errors: {} });
    expect(Object.values(graph).map(({ class_type }) => class_type)).toEqual(
      expect.arrayContaining(['LoraLoader', 'CLIPSetLastLayer', 'VAELoader']),
    );
    expect(JSON.stringify(graph)).not.toMatch(/"\{\w+\}"/);
  });
});

test('a prompt that looks like a placeholder stays as it is', () => {
  const graph = workflowGraph({ ...drawing('sd15'), prompt: '{negative}' }, checkpoint);
  expect(graph['6']?.inputs.text).toBe('{negative}');
});

test('the validation of the stand-in refuses what ComfyUI refuses', () => {
  const graph = structuredClone(workflowGraph(drawing('sd15'), checkpoint)) as unknown as Prompt;
  (graph['3'] as PromptNode).inputs.steps = 0;
  (graph['4'] as PromptNode).inputs.ckpt_name = 'absent';
  (graph['8'] as PromptNode).inputs.vae = ['4', 0];
  const { node_errors } = validatePrompt(graph, INSTALLED);
  expect(Object.values(node_errors).map(({ errors }) => errors[0]?.type)).toEqual([
    'value_smaller_than_min',
    'value_not_in_list',
    'return_type_mismatch',
  ]);
});

const inputs = (id: string, more: Partial<Drawing> = {}, weights: Weights = checkpoint) => {
  const graph = workflowGraph(drawing(id, more), weights);
  return (node: string) => graph[node] ?? null;
};

test.each(['sd15', 'sdxl'])('%s: contains everything requested', (id) => {
  const at = inputs(id, { width: 640, height: 320, steps: 9, cfg: 4 });
  expect(at('4')?.inputs).toEqual({ ckpt_name: 'w.safetensors' });
  expect([at('6')?.inputs.text, at('7')?.inputs.text]).toEqual(['a cat', 'dogs']);
  expect(at('5')?.inputs).toEqual({ width: 640, height: 320, batch_size: 2 });
  expect(at('3')).toMatchObject({
    class_type: 'KSampler',
    inputs: { seed: 7, steps: 9, cfg: 4, sampler_name: 'euler', scheduler: 'normal', denoise: 1 },
  });
});

test('SDXL Turbo has its own schedule', () => {
  const at = inputs('sdxl-turbo', { steps: 3 });
  expect(at('14')).toMatchObject({ class_type: 'SDTurboScheduler', inputs: { steps: 3, denoise: 1 } });
  expect(at('3')).toMatchObject({ class_type: 'SamplerCustom', inputs: { noise_seed: 7, cfg: 1 } });
});

test('FLUX dev is guided, schnell is not, and neither has a negative prompt', () => {
  const [dev, schnell] = [inputs('flux-dev', { cfg: 2 }), inputs('flux-schnell')];
  expect(dev('13')).toMatchObject({ class_type: 'FluxGuidance', inputs: { guidance: 2 } });
  expect(schnell('13')).toBeNull();
  for (const at of [dev, schnell]) {
    expect(at('3')?.inputs).toMatchObject({ cfg: 1, scheduler: 'simple' });
    expect(at('7')?.class_type).toBe('ConditioningZeroOut');
  }
  expect(JSON.stringify(workflowGraph(drawing('flux-dev'), split))).not.toContain('dogs');
});

test('loads parts separately', () => {
  const at = inputs('flux-schnell', {}, split);
  expect(at('11')?.inputs).toEqual({ clip_name1: 't', clip_name2: 'c', type: 'flux' });
  expect(at('8')?.inputs.vae).toEqual(['12', 0]);
  expect(at('4')).toBeNull();
});
