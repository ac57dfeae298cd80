import type { ImageFamily } from './curated.ts';
import type { Drawing } from './drawing.ts';

/** The output of another node: node id and output index. */
export type Link = readonly [string, number];

export interface GraphNode {
  readonly class_type: string;
  readonly inputs: Readonly<Record<string, string | number | boolean | Link>>;
}

/** A ComfyUI workflow in the form of `POST /prompt`: nodes by id. */
export type Graph = Readonly<Record<string, GraphNode>>;

/** The installed files of one model, by the engine's names. */
export type Weights =
  | { readonly by: 'checkpoint'; readonly checkpoint: string }
  | {
      readonly by: 'split';
      readonly unet: string;
      readonly t5: string;
      readonly clip: string;
      readonly vae: string;
    };

/** Ids of nodes that other code refers to: the sampler, whose steps are the progress, and the output. */
export const SAMPLER = '3';
export const OUTPUT = '9';
const [WHOLE, LATENT, POSITIVE, NEGATIVE, DECODER] = ['4', '5', '6', '7', '8'];
const [UNET, TEXT, VAE, GUIDANCE, SIGMAS, METHOD] = ['10', '11', '12', '13', '14', '15'];

const node = (class_type: string, inputs: GraphNode['inputs']): GraphNode => ({ class_type, inputs });
const from = (id: string, output = 0): Link => [id, output];

interface Sources {
  readonly nodes: Graph;
  readonly model: Link;
  readonly clip: Link;
  readonly vae: Link;
}

function sources(weights: Weights): Sources {
  if (weights.by === 'checkpoint') {
    const nodes = { [WHOLE]: node('CheckpointLoaderSimple', { ckpt_name: weights.checkpoint }) };
    return { nodes, model: from(WHOLE, 0), clip: from(WHOLE, 1), vae: from(WHOLE, 2) };
  }
  const { unet, t5, clip, vae } = weights;
  const nodes = {
    [UNET]: node('UNETLoader', { unet_name: unet, weight_dtype: 'default' }),
    [TEXT]: node('DualCLIPLoader', { clip_name1: t5, clip_name2: clip, type: 'flux' }),
    [VAE]: node('VAELoader', { vae_name: vae }),
  };
  return { nodes, model: from(UNET), clip: from(TEXT), vae: from(VAE) };
}

const canvas = ({ width, height, count }: Drawing) => ({ width, height, batch_size: count });

const prompts = (drawing: Drawing, clip: Link): Graph => ({
  [POSITIVE]: node('CLIPTextEncode', { text: drawing.prompt, clip }),
  [NEGATIVE]: node('CLIPTextEncode', { text: drawing.negativePrompt, clip }),
});

/** Stable Diffusion 1.5 and XL: removes noise in steps, guided by both prompts. */
function stableDiffusion(drawing: Drawing, { model, clip }: Sources): Graph {
  const { seed, steps, cfg } = drawing;
  return {
    ...prompts(drawing, clip),
    [LATENT]: node('EmptyLatentImage', canvas(drawing)),
    [SAMPLER]: node('KSampler', {
      model,
      seed,
      steps,
      cfg,
      sampler_name: drawing.model.sampler,
      scheduler: drawing.model.scheduler,
      positive: from(POSITIVE),
      negative: from(NEGATIVE),
      latent_image: from(LATENT),
      denoise: 1,
    }),
  };
}

/** SDXL Turbo: one to ten steps on its own schedule. */
function turbo(drawing: Drawing, { model, clip }: Sources): Graph {
  return {
    ...prompts(drawing, clip),
    [LATENT]: node('EmptyLatentImage', canvas(drawing)),
    [METHOD]: node('KSamplerSelect', { sampler_name: drawing.model.sampler }),
    [SIGMAS]: node('SDTurboScheduler', { model, steps: drawing.steps, denoise: 1 }),
    [SAMPLER]: node('SamplerCustom', {
      model,
      add_noise: true,
      noise_seed: drawing.seed,
      cfg: drawing.cfg,
      positive: from(POSITIVE),
      negative: from(NEGATIVE),
      sampler: from(METHOD),
      sigmas: from(SIGMAS),
      latent_image: from(LATENT),
    }),
  };
}

/** FLUX: guidance is an input of the model, so the sampler applies none. */
function flux(drawing: Drawing, { model, clip }: Sources): Graph {
  const { seed, steps, cfg } = drawing;
  const guided = drawing.model.takes.cfg;
  return {
    [POSITIVE]: node('CLIPTextEncode', { text: drawing.prompt, clip }),
    [NEGATIVE]: node('ConditioningZeroOut', { conditioning: from(POSITIVE) }),
    ...(guided && {
      [GUIDANCE]: node('FluxGuidance', { conditioning: from(POSITIVE), guidance: cfg }),
    }),
    [LATENT]: node('EmptySD3LatentImage', canvas(drawing)),
    [SAMPLER]: node('KSampler', {
      model,
      seed,
      steps,
      cfg: 1,
      sampler_name: drawing.model.sampler,
      scheduler: drawing.model.scheduler,
      positive: from(guided ? GUIDANCE : POSITIVE),
      negative: from(NEGATIVE),
      latent_image: from(LATENT),
      denoise: 1,
    }),
  };
}

const FAMILIES: Readonly<Record<ImageFamily, (drawing: Drawing, sources: Sources) => Graph>> = {
  sd15: stableDiffusion,
  sdxl: stableDiffusion,
  'sdxl-turbo': turbo,
  'flux-schnell': flux,
  'flux-dev': flux,
};

/**
 * Returns the workflow that draws `drawing` from these files (docs/spec/specification.md#images). Pure. The
 * pictures come from a preview node: the engine holds them until its next start and does not mix them with
 * its owner's pictures.
 */
export function workflowGraph(drawing: Drawing, weights: Weights): Graph {
  const loaded = sources(weights);
  return {
    ...loaded.nodes,
    ...FAMILIES[drawing.model.family](drawing, loaded),
    [DECODER]: node('VAEDecode', { samples: from(SAMPLER), vae: loaded.vae }),
    [OUTPUT]: node('PreviewImage', { images: from(DECODER) }),
  };
}
