import type { ImageFamily } from '../../models/images/families.ts';

/** The output of another node: node id and output index. */
export type Link = readonly [string, number];

export interface GraphNode {
  readonly class_type: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** A ComfyUI workflow in the form of `POST /prompt`: nodes by id. */
export type Graph = Readonly<Record<string, GraphNode>>;

/**
 * What a template refers to: values of the request, and the outputs of the loaders. `{name}` as the whole value of an
 * input is replaced.
 */
export const PLACEHOLDERS = [
  'prompt',
  'negative',
  'seed',
  'steps',
  'cfg',
  'width',
  'height',
  'count',
  'sampler',
  'scheduler',
  'model',
  'clip',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** Ids of nodes that other code refers to: the sampler, whose steps are the progress, and the output. */
export const SAMPLER = '3';
export const OUTPUT = '9';
/** Ids of the nodes that load files, the decoder and the adaptation of a model. */
export const IDS = {
  checkpoint: '4',
  decode: '8',
  diffusionModel: '10',
  encoders: '11',
  vae: '12',
  clipSkip: '19',
} as const;
const [LATENT, POSITIVE, NEGATIVE, GUIDANCE, SIGMAS, METHOD, SHIFT, NOISE, GUIDER] = [
  ...['5', '6', '7', '13', '14', '15', '16', '17', '18'],
] as [string, string, string, string, string, string, string, string, string];

const node = (class_type: string, inputs: GraphNode['inputs']): GraphNode => ({ class_type, inputs });
const from = (id: string, output = 0): Link => [id, output];
const canvas = (class_type: string): Graph => ({
  [LATENT]: node(class_type, { width: '{width}', height: '{height}', batch_size: '{count}' }),
});
const prompt: Graph = { [POSITIVE]: node('CLIPTextEncode', { text: '{prompt}', clip: '{clip}' }) };
const bothPrompts: Graph = {
  ...prompt,
  [NEGATIVE]: node('CLIPTextEncode', { text: '{negative}', clip: '{clip}' }),
};
/** A model that is not guided: the negative side is empty. */
const promptAlone: Graph = {
  ...prompt,
  [NEGATIVE]: node('ConditioningZeroOut', { conditioning: from(POSITIVE) }),
};
const shift = (by: number): Graph => ({
  [SHIFT]: node('ModelSamplingAuraFlow', { model: '{model}', shift: by }),
});
const sampler = (over: GraphNode['inputs'] = {}): Graph => ({
  [SAMPLER]: node('KSampler', {
    ...{ model: '{model}', seed: '{seed}', steps: '{steps}', cfg: '{cfg}' },
    ...{ sampler_name: '{sampler}', scheduler: '{scheduler}' },
    ...{ positive: from(POSITIVE), negative: from(NEGATIVE), latent_image: from(LATENT), denoise: 1 },
    ...over,
  }),
});

const STABLE_DIFFUSION: Graph = { ...bothPrompts, ...canvas('EmptyLatentImage'), ...sampler() };
const FLUX_CANVAS = canvas('EmptySD3LatentImage');
const Z_IMAGE: Graph = { ...shift(3), ...FLUX_CANVAS, ...sampler({ model: from(SHIFT) }) };

/**
 * The part of each workflow between the loaders and the decoder, as data. They follow the blueprints of ComfyUI and
 * are compared with the nodes of a real one (`graphs.test.ts`).
 */
export const GRAPHS: Readonly<Record<ImageFamily, Graph>> = {
  sd15: STABLE_DIFFUSION,
  sdxl: STABLE_DIFFUSION,
  // One to ten steps on its own schedule.
  'sdxl-turbo': {
    ...bothPrompts,
    ...canvas('EmptyLatentImage'),
    [METHOD]: node('KSamplerSelect', { sampler_name: '{sampler}' }),
    [SIGMAS]: node('SDTurboScheduler', { model: '{model}', steps: '{steps}', denoise: 1 }),
    [SAMPLER]: node('SamplerCustom', {
      ...{ model: '{model}', add_noise: true, noise_seed: '{seed}', cfg: '{cfg}' },
      ...{ positive: from(POSITIVE), negative: from(NEGATIVE), sampler: from(METHOD) },
      ...{ sigmas: from(SIGMAS), latent_image: from(LATENT) },
    }),
  },
  sd35: { ...bothPrompts, ...FLUX_CANVAS, ...sampler() },
  // Guidance is an input of the model, so the sampler applies none.
  'flux-dev': {
    ...promptAlone,
    [GUIDANCE]: node('FluxGuidance', { conditioning: from(POSITIVE), guidance: '{cfg}' }),
    ...FLUX_CANVAS,
    ...sampler({ cfg: 1, positive: from(GUIDANCE) }),
  },
  'flux-schnell': { ...promptAlone, ...FLUX_CANVAS, ...sampler({ cfg: 1 }) },
  flux2: {
    ...prompt,
    [GUIDANCE]: node('FluxGuidance', { conditioning: from(POSITIVE), guidance: '{cfg}' }),
    [GUIDER]: node('BasicGuider', { model: '{model}', conditioning: from(GUIDANCE) }),
    ...canvas('EmptyFlux2LatentImage'),
    [METHOD]: node('KSamplerSelect', { sampler_name: '{sampler}' }),
    [SIGMAS]: node('Flux2Scheduler', { steps: '{steps}', width: '{width}', height: '{height}' }),
    [NOISE]: node('RandomNoise', { noise_seed: '{seed}' }),
    [SAMPLER]: node('SamplerCustomAdvanced', {
      ...{ noise: from(NOISE), guider: from(GUIDER), sampler: from(METHOD) },
      ...{ sigmas: from(SIGMAS), latent_image: from(LATENT) },
    }),
  },
  'qwen-image': { ...bothPrompts, ...shift(3.1), ...FLUX_CANVAS, ...sampler({ model: from(SHIFT) }) },
  'z-image': { ...bothPrompts, ...Z_IMAGE },
  'z-image-turbo': { ...promptAlone, ...Z_IMAGE },
};
