import { SDXL_LICENCE, SDXL_TURBO_LICENCE } from '../../models/licences.ts';

/** The kinds of workflow that the gateway can build. */
export type ImageFamily = 'sd15' | 'sdxl' | 'sdxl-turbo' | 'flux-schnell' | 'flux-dev';

/** FLUX as four files: the model, two text encoders and the decoder. Names in order of preference. */
export interface SplitFiles {
  readonly unet: readonly string[];
  readonly t5: readonly string[];
  readonly clip: readonly string[];
  readonly vae: readonly string[];
}

/** One image model that requests may name (docs/spec/specification.md#images-curated). */
export interface CuratedModel {
  readonly id: string;
  /** Other names of the model; the names of its files count implicitly. */
  readonly aliases: readonly string[];
  readonly name: string;
  readonly licence: string;
  readonly family: ImageFamily;
  /** File names of the complete model, in order of preference. */
  readonly checkpoints: readonly string[];
  /** The model as separate files, for engines without the complete one. */
  readonly split: SplitFiles | null;
  readonly width: number;
  readonly height: number;
  readonly steps: number;
  /** Maximum steps of its scheduler. */
  readonly maxSteps: number;
  /** Guidance scale. */
  readonly cfg: number;
  /** Whether it supports guidance and a negative prompt. */
  readonly takes: { readonly cfg: boolean; readonly negative: boolean };
  readonly sampler: 'euler' | 'euler_ancestral';
  readonly scheduler: 'normal' | 'simple' | 'turbo';
}

const MAX_STEPS = 150;
const FLUX_PARTS = {
  t5: ['t5xxl_fp8_e4m3fn.safetensors', 't5xxl_fp8_e4m3fn_scaled.safetensors', 't5xxl_fp16.safetensors'],
  clip: ['clip_l.safetensors'],
  vae: ['ae.safetensors', 'flux_vae.safetensors'],
} as const;
const FLUX = {
  width: 1024,
  height: 1024,
  maxSteps: MAX_STEPS,
  sampler: 'euler',
  scheduler: 'simple',
} as const;

/**
 * The curated set. Add a row for a model of an existing family; a new family needs a workflow in
 * `workflow-graph.ts`.
 */
export const CURATED: readonly CuratedModel[] = [
  {
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
    split: null,
    width: 512,
    height: 512,
    steps: 20,
    maxSteps: MAX_STEPS,
    cfg: 7,
    takes: { cfg: true, negative: true },
    sampler: 'euler',
    scheduler: 'normal',
  },
  {
    id: 'sdxl',
    aliases: ['sdxl-base', 'sdxl-1.0', 'stable-diffusion-xl-base-1.0'],
    name: 'Stable Diffusion XL 1.0',
    licence: SDXL_LICENCE,
    family: 'sdxl',
    checkpoints: ['sd_xl_base_1.0.safetensors', 'sd_xl_base_1.0_0.9vae.safetensors'],
    split: null,
    width: 1024,
    height: 1024,
    steps: 25,
    maxSteps: MAX_STEPS,
    cfg: 7,
    takes: { cfg: true, negative: true },
    sampler: 'euler',
    scheduler: 'normal',
  },
  {
    id: 'sdxl-turbo',
    aliases: [],
    name: 'SDXL Turbo',
    licence: SDXL_TURBO_LICENCE,
    family: 'sdxl-turbo',
    checkpoints: ['sd_xl_turbo_1.0_fp16.safetensors', 'sd_xl_turbo_1.0.safetensors'],
    split: null,
    width: 512,
    height: 512,
    steps: 1,
    maxSteps: 10,
    cfg: 1,
    takes: { cfg: true, negative: true },
    sampler: 'euler_ancestral',
    scheduler: 'turbo',
  },
  {
    ...FLUX,
    id: 'flux-schnell',
    aliases: ['flux.1-schnell', 'flux1-schnell', 'flux'],
    name: 'FLUX.1 [schnell]',
    licence: 'Apache-2.0',
    family: 'flux-schnell',
    checkpoints: ['flux1-schnell-fp8.safetensors'],
    split: { unet: ['flux1-schnell.safetensors'], ...FLUX_PARTS },
    steps: 4,
    cfg: 1,
    takes: { cfg: false, negative: false },
  },
  {
    ...FLUX,
    id: 'flux-dev',
    aliases: ['flux.1-dev', 'flux1-dev'],
    name: 'FLUX.1 [dev]',
    licence: 'FLUX.1 [dev] Non-Commercial License',
    family: 'flux-dev',
    checkpoints: ['flux1-dev-fp8.safetensors'],
    split: { unet: ['flux1-dev.safetensors'], ...FLUX_PARTS },
    steps: 20,
    cfg: 3.5,
    takes: { cfg: true, negative: false },
  },
];

const stem = (name: string): string =>
  lastPart(name)
    .toLowerCase()
    .replace(/\.(safetensors|ckpt|gguf|sft)$/, '');

/** Returns what follows the last slash of either kind. */
const lastPart = (name: string): string =>
  name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);

/** Reduces a name to the characters of model ids; the registry replaces other characters with hyphens. */
const plain = (name: string): string => stem(name).replaceAll(/[^a-z0-9.]+/g, '-');

const BY_NAME: ReadonlyMap<string, CuratedModel> = new Map(
  CURATED.flatMap((model) =>
    [model.id, ...model.aliases, ...model.checkpoints, ...(model.split?.unet ?? [])].map(
      (name) => [plain(name), model] as const,
    ),
  ),
);

/** Maximum characters of a file name; normalising a longer text would block the event loop. */
const MAX_NAME_LENGTH = 255;

/** Returns the curated model of this id, alias or file name; undefined when there is none. */
export const curatedModel = (name: string): CuratedModel | undefined =>
  lastPart(name).length > MAX_NAME_LENGTH ? undefined : BY_NAME.get(plain(name));
