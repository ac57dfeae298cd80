import { describe, expect, it, test } from 'vitest';
import {
  filledWorkflow,
  mappedWorkflow,
  parseWorkflow,
  proposeMapping,
  WorkflowError,
  type WorkflowGraph,
  workflowCandidates,
  workflowValue,
} from './workflow.ts';

/** ComfyUI's own default workflow, as "Export (API)" writes it. */
const DEFAULT: WorkflowGraph = {
  '3': {
    class_type: 'KSampler',
    _meta: { title: 'KSampler' },
    inputs: {
      ...{ seed: 156680208700286, steps: 20, cfg: 8, sampler_name: 'euler', scheduler: 'normal', denoise: 1 },
      ...{ model: ['4', 0], positive: ['6', 0], negative: ['7', 0], latent_image: ['5', 0] },
    },
  },
  '4': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'v1-5-pruned-emaonly.safetensors' } },
  '5': { class_type: 'EmptyLatentImage', inputs: { width: 512, height: 768, batch_size: 1 } },
  '6': { class_type: 'CLIPTextEncode', inputs: { text: 'beautiful scenery', clip: ['4', 1] } },
  '7': { class_type: 'CLIPTextEncode', inputs: { text: 'text, watermark', clip: ['4', 1] } },
  '8': { class_type: 'VAEDecode', inputs: { samples: ['3', 0], vae: ['4', 2] } },
  '9': { class_type: 'SaveImage', inputs: { filename_prefix: 'ComfyUI', images: ['8', 0] } },
};

/** FLUX with a guider, a text in a separate node, and nodes of a subgraph. */
const FLUX: WorkflowGraph = {
  '6': { class_type: 'CLIPTextEncode', inputs: { text: ['40:1', 0], clip: ['11', 0] } },
  '40:1': { class_type: 'PrimitiveStringMultiline', inputs: { value: 'a fox' } },
  '13': {
    class_type: 'SamplerCustomAdvanced',
    inputs: {
      noise: ['25', 0],
      guider: ['22', 0],
      sampler: ['16', 0],
      sigmas: ['17', 0],
      latent_image: ['27', 0],
    },
  },
  '17': {
    class_type: 'BasicScheduler',
    inputs: { scheduler: 'simple', steps: 20, denoise: 1, model: ['30', 0] },
  },
  '22': { class_type: 'BasicGuider', inputs: { model: ['30', 0], conditioning: ['26', 0] } },
  '25': { class_type: 'RandomNoise', inputs: { noise_seed: 219670278747233 } },
  '26': { class_type: 'FluxGuidance', inputs: { guidance: 3.5, conditioning: ['6', 0] } },
  '27': { class_type: 'EmptySD3LatentImage', inputs: { width: ['34', 0], height: 1024, batch_size: 1 } },
  '34': { class_type: 'PrimitiveInt', inputs: { value: 1024 } },
};

test('proposes the inputs of the default workflow', () => {
  expect(proposeMapping(DEFAULT)).toEqual({
    ...{
      prompt: ['6.text'],
      negative_prompt: ['7.text'],
      seed: ['3.seed'],
      steps: ['3.steps'],
      cfg: ['3.cfg'],
    },
    ...{ width: ['5.width'], height: ['5.height'], n: ['5.batch_size'] },
  });
});

test('follows links to texts and numbers in separate nodes', () => {
  expect(proposeMapping(FLUX)).toEqual({
    ...{ prompt: ['40:1.value'], seed: ['25.noise_seed'], steps: ['17.steps'], cfg: ['26.guidance'] },
    ...{ width: ['34.value'], height: ['27.height'], n: ['27.batch_size'] },
  });
});

test('links in a circle end', () => {
  const circle = { '1': { class_type: 'X', inputs: { positive: ['1', 0] } } };
  expect(proposeMapping(circle)).toEqual({});
});

test('fills in values; others stay as the file has them', () => {
  const workflow = mappedWorkflow(DEFAULT, { seed: ['3.seed'] });
  const filled = filledWorkflow(workflow, { prompt: '{seed}', seed: 7, steps: undefined });
  expect(filled['6']?.inputs.text).toBe('{seed}');
  expect(filled['3']?.inputs).toMatchObject({ seed: 7, steps: 20 });
  expect(DEFAULT['6']?.inputs.text).toBe('beautiful scenery');
  expect([workflowValue(workflow, 'height'), workflowValue(workflow, 'negative_prompt')]).toEqual([
    768,
    'text, watermark',
  ]);
});

describe('refuses', () => {
  it.each([
    ['{', 'It is not valid JSON.'],
    ['[]', 'It is not a workflow.'],
    ['{}', 'It is not a workflow.'],
    ['{"nodes":[],"links":[]}', 'Export (API)'],
    ['{"1":{"class_type":"X"}}', 'Its node 1 has no class or no inputs.'],
  ])('%s', (text, message) => {
    expect(() => parseWorkflow(text)).toThrow(message);
  });

  it.each([
    [{ prompt: ['60.text'] }, 'prompt: it has no node 60.'],
    [{ seed: ['3.sed'] }, 'seed: node 3 (KSampler) has no input sed, but seed, steps,'],
  ])('the mapping %j', (mapping, message) => {
    expect(() => mappedWorkflow(DEFAULT, mapping)).toThrow(message);
  });

  it('a workflow without a prompt', () => {
    const { '6': _, '7': __, ...rest } = DEFAULT;
    expect(() => mappedWorkflow(rest, {})).toThrow('No input for the prompt was found.');
  });
});

test('reads the body of POST /prompt too', () => {
  expect(parseWorkflow(JSON.stringify({ prompt: DEFAULT, client_id: 'x' }))).toEqual(DEFAULT);
});

test('candidates are the inputs of the right type, with the title of their node', () => {
  const graph = {
    3: { class_type: 'KSampler', inputs: { seed: 1, sampler_name: 'euler', model: ['4', 0] } },
    6: { class_type: 'CLIPTextEncode', inputs: { text: 'x' }, _meta: { title: 'What to draw' } },
    7: { class_type: 'CLIPTextEncode', inputs: { text: 'y' }, _meta: { title: ' ' } },
  };
  expect(workflowCandidates(graph, 'prompt')).toEqual([
    { target: '3.sampler_name', node: 'KSampler' },
    { target: '6.text', node: 'What to draw' },
    { target: '7.text', node: 'CLIPTextEncode' },
  ]);
  expect(workflowCandidates(graph, 'seed')).toEqual([{ target: '3.seed', node: 'KSampler' }]);
});

test('an empty list removes a proposed input', () => {
  const graph = {
    3: { class_type: 'KSampler', inputs: { seed: 1, positive: ['6', 0] } },
    6: { class_type: 'CLIPTextEncode', inputs: { text: 'x' } },
  };
  expect(mappedWorkflow(graph, {}).mapping).toEqual({ prompt: ['6.text'], seed: ['3.seed'] });
  expect(mappedWorkflow(graph, { seed: [] }).mapping).toEqual({ prompt: ['6.text'] });
});

test.each([
  ['links in a circle', ['a', 'a', 'a', 'a']],
  ['links to the same node', ['b', 'b', 'b', 'b']],
])('%s are followed once', (_, [one, two, three, four]) => {
  const many = (target: string) => ({
    class_type: 'ConditioningCombine',
    inputs: Object.fromEntries([1, 2, 3, 4].map((n) => [`conditioning_${n}`, [target, 0]])),
  });
  const chain = Object.fromEntries(Array.from({ length: 24 }, (__, n) => [`c${n}`, many(`c${n + 1}`)]));
  const graph = parseWorkflow(
    JSON.stringify({
      s: { class_type: 'KSampler', inputs: { positive: ['a', 0], negative: ['c0', 0], seed: 1 } },
      a: {
        class_type: 'x',
        inputs: { cond_1: [one, 0], cond_2: [two, 0], cond_3: [three, 0], cond_4: [four, 0] },
      },
      b: many('c0'),
      ...chain,
    }),
  );
  const startedAt = performance.now();
  expect(proposeMapping(graph)).toEqual({ seed: ['s.seed'] });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test.each(['constructor.name', '__proto__.x', 'toString.length', 's.constructor', 's.toString'])(
  'the mapping %s names no input of the file',
  (target) => {
    const graph = parseWorkflow('{"s":{"class_type":"CLIPTextEncode","inputs":{"text":"x"}}}');
    expect(() => mappedWorkflow(graph, { prompt: [target] })).toThrow(WorkflowError);
  },
);
