import { expect, test } from 'vitest';
import { type Prompt, validatePrompt } from '../../test/harness/comfy-nodes.ts';
import { CURATED, type CuratedModel, curatedModel } from './curated.ts';
import type { Drawing } from './drawing.ts';
import { type Weights, workflowGraph } from './workflow-graph.ts';

const drawing = (id: string, more: Partial<Drawing> = {}): Drawing => {
  const model = curatedModel(id) as CuratedModel;
  const { width, height, steps, cfg } = model;
  const common = { prompt: 'a cat', negativePrompt: 'dogs', count: 2, seed: 7 };
  return { model, width, height, steps, cfg, ...common, ...more };
};
const checkpoint: Weights = { by: 'checkpoint', checkpoint: 'w.safetensors' };
const split: Weights = { by: 'split', unet: 'u', t5: 't', clip: 'c', vae: 'v' };
const INSTALLED = { checkpoints: ['w.safetensors'], unet: ['u'], clip: ['t', 'c'], vae: ['v'] };

test.each(
  CURATED.flatMap(({ id, split: parts }) => [
    [id, checkpoint] as const,
    ...(parts ? [[id, split] as const] : []),
  ]),
)('%s from %o is a workflow that the engine accepts', (id, weights) => {
  const graph = workflowGraph(drawing(id), weights);
  expect(validatePrompt(graph as unknown as Prompt, INSTALLED)).toEqual({ error: null, node_errors: {} });
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
