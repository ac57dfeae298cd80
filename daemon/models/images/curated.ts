import type { Workflow } from '../../contract/workflow.ts';
import { SDXL_LICENCE, SDXL_TURBO_LICENCE } from '../licences.ts';
import { FAMILIES, type FamilyTraits, type ImageFamily } from './families.ts';

/** What the slot file adds to the workflow of a model. */
export interface ModelOptions {
  readonly loras: readonly { readonly name: string; readonly strength: number }[];
  /** The decoder to use instead of the model's own; null for its own. */
  readonly vae: string | null;
  /** Layers of the text encoder to skip, counted from the end; null for none. */
  readonly clipSkip: number | null;
  readonly negativePrompt: string;
}

/** Where the family of a model is known from. */
export type FamilySource = 'slot' | 'header' | 'metadata' | 'name' | 'assumed';

/** One image model that requests may name (docs/spec/specification.md#images-curated). */
export interface ImageModel extends FamilyTraits {
  readonly id: string;
  /** Other names of the model; the names of its files count implicitly. */
  readonly aliases: readonly string[];
  readonly name: string;
  readonly licence: string;
  /** `workflow` for a workflow of the owner. */
  readonly family: ImageFamily | 'workflow';
  /** Absent for the built-in models. */
  readonly familySource?: FamilySource;
  /** File names of the complete model, in order of preference. */
  readonly checkpoints: readonly string[];
  /** File names of the diffusion model alone, which needs the files of its family; empty when it has none. */
  readonly diffusionModels: readonly string[];
  readonly options?: ModelOptions;
  /** Set for a workflow of the owner. */
  readonly workflow?: Workflow;
}

/**
 * The built-in part of the curated set (docs/spec/contract.md#curated). Add a row for a model of an existing family;
 * a new family needs a row in `families.ts` and a graph in `inference/images/graphs.ts`.
 */
export const CURATED: readonly ImageModel[] = [
  {
    ...FAMILIES.sd15,
    id: 'sd15',
    aliases: ['sd-1.5', 'stable-diffusion-v1-5', 'stable-diffusion-1.5'],
    name: 'Stable Diffusion 1.5',
    licence: 'CreativeML OpenRAIL-M',
    family: 'sd15',
    checkpoints: [
      'v1-5-pruned-emaonly.safetensors',
      'v1-5-pruned-emaonly-fp16.safetensors',
      'v1-5-pruned.safetensors',
      'v1-5-pruned-emaonly.ckpt',
    ],
    diffusionModels: [],
  },
  {
    ...FAMILIES.sdxl,
    id: 'sdxl',
    aliases: ['sdxl-base', 'sdxl-1.0', 'stable-diffusion-xl-base-1.0'],
    name: 'Stable Diffusion XL 1.0',
    licence: SDXL_LICENCE,
    family: 'sdxl',
    checkpoints: ['sd_xl_base_1.0.safetensors', 'sd_xl_base_1.0_0.9vae.safetensors'],
    diffusionModels: [],
  },
  {
    ...FAMILIES['sdxl-turbo'],
    id: 'sdxl-turbo',
    aliases: [],
    name: 'SDXL Turbo',
    licence: SDXL_TURBO_LICENCE,
    family: 'sdxl-turbo',
    checkpoints: ['sd_xl_turbo_1.0_fp16.safetensors', 'sd_xl_turbo_1.0.safetensors'],
    diffusionModels: [],
  },
  {
    ...FAMILIES.sd35,
    id: 'sd35',
    aliases: ['sd3.5', 'sd3.5-large', 'stable-diffusion-3.5-large'],
    name: 'Stable Diffusion 3.5 Large',
    licence: 'Stability AI Community License',
    family: 'sd35',
    checkpoints: ['sd3.5_large_fp8_scaled.safetensors', 'sd3.5_large.safetensors'],
    diffusionModels: [],
  },
  {
    ...FAMILIES['flux-schnell'],
    id: 'flux-schnell',
    aliases: ['flux.1-schnell', 'flux1-schnell', 'flux'],
    name: 'FLUX.1 [schnell]',
    licence: 'Apache-2.0',
    family: 'flux-schnell',
    checkpoints: ['flux1-schnell-fp8.safetensors'],
    diffusionModels: ['flux1-schnell.safetensors'],
  },
  {
    ...FAMILIES['flux-dev'],
    id: 'flux-dev',
    aliases: ['flux.1-dev', 'flux1-dev'],
    name: 'FLUX.1 [dev]',
    licence: 'FLUX.1 [dev] Non-Commercial License',
    family: 'flux-dev',
    checkpoints: ['flux1-dev-fp8.safetensors'],
    diffusionModels: ['flux1-dev.safetensors'],
  },
  {
    ...FAMILIES.flux2,
    id: 'flux2-dev',
    aliases: ['flux.2-dev', 'flux2'],
    name: 'FLUX.2 [dev]',
    licence: 'FLUX Non-Commercial License',
    family: 'flux2',
    checkpoints: [],
    diffusionModels: ['flux2_dev_fp8mixed.safetensors', 'flux2-dev.safetensors'],
  },
  {
    ...FAMILIES['qwen-image'],
    id: 'qwen-image',
    aliases: [],
    name: 'Qwen-Image',
    licence: 'Apache-2.0',
    family: 'qwen-image',
    checkpoints: [],
    diffusionModels: [
      'qwen_image_2512_fp8_e4m3fn.safetensors',
      'qwen_image_fp8_e4m3fn.safetensors',
      'qwen_image_bf16.safetensors',
    ],
  },
  {
    ...FAMILIES['z-image-turbo'],
    id: 'z-image-turbo',
    aliases: ['z-image'],
    name: 'Z-Image-Turbo',
    licence: 'Apache-2.0',
    family: 'z-image-turbo',
    checkpoints: [],
    diffusionModels: ['z_image_turbo_bf16.safetensors'],
  },
];

const stem = (name: string): string =>
  lastPart(name)
    .toLowerCase()
    .replace(/\.(safetensors|ckpt|gguf|sft)$/, '');

/** Returns what follows the last slash of either kind. */
const lastPart = (name: string): string =>
  name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);

/** Maximum characters of a file name; normalising a longer text would block the event loop. */
const MAX_NAME_LENGTH = 255;

/**
 * Reduces a name to the characters of model ids, without folder and extension: the registry replaces other characters
 * with hyphens. Returns null for a text that is too long to be a file name.
 */
export const plainImageName = (name: string): string | null =>
  lastPart(name).length > MAX_NAME_LENGTH ? null : stem(name).replaceAll(/[^a-z0-9.]+/g, '-');

/** Returns whether a name has the extension of a weight file. */
export const isWeightFile = (name: string): boolean => /\.(safetensors|ckpt|gguf|sft)$/i.test(name);

const BY_NAME: ReadonlyMap<string | null, ImageModel> = new Map(
  CURATED.flatMap((model) =>
    [model.id, ...model.aliases, ...model.checkpoints, ...model.diffusionModels].map(
      (name) => [plainImageName(name), model] as const,
    ),
  ),
);

/** Returns the built-in model of this id, alias or file name; undefined when there is none. */
export const curatedModel = (name: string): ImageModel | undefined => BY_NAME.get(plainImageName(name));
