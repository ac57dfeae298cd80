/** Families that a slot file may name (docs/spec/contract.md#image-slot-keys). */
export const DECLARED_FAMILIES = ['sd15', 'sdxl', 'sd35', 'flux', 'flux2', 'qwen-image', 'z-image'] as const;
export type DeclaredFamily = (typeof DECLARED_FAMILIES)[number];

/** The kinds of workflow that the gateway can build: a family, or a variant of one with its own schedule. */
export type ImageFamily =
  | Exclude<DeclaredFamily, 'flux'>
  | 'sdxl-turbo'
  | 'flux-schnell'
  | 'flux-dev'
  | 'z-image-turbo';

/** One file beside the diffusion model. */
export interface PartFile {
  /** Published names, in order of preference. */
  readonly names: readonly string[];
  /** Other names of the same file, such as quantisations. */
  readonly pattern: RegExp;
}

/** The text encoders of a family: the ComfyUI node that loads them, its `type`, and the file of each input. */
export interface Encoders {
  readonly node: 'CLIPLoader' | 'DualCLIPLoader' | 'TripleCLIPLoader';
  readonly type: string | null;
  readonly files: Readonly<Record<string, PartFile>>;
}

/** What all models of a family have in common. */
export interface FamilyTraits {
  readonly width: number;
  readonly height: number;
  readonly steps: number;
  /** Maximum steps of its scheduler. */
  readonly maxSteps: number;
  /** Guidance scale. */
  readonly cfg: number;
  /** Whether it supports guidance and a negative prompt. */
  readonly takes: { readonly cfg: boolean; readonly negative: boolean };
  /** Names of ComfyUI. */
  readonly sampler: string;
  readonly scheduler: string;
  /** Text encoders in separate files; null when every checkpoint contains them. */
  readonly encoders: Encoders | null;
  /** The decoder as a separate file; null when every checkpoint contains it. */
  readonly vae: PartFile | null;
}

const MAX_STEPS = 150;
const T5: PartFile = {
  names: ['t5xxl_fp8_e4m3fn.safetensors', 't5xxl_fp8_e4m3fn_scaled.safetensors', 't5xxl_fp16.safetensors'],
  pattern: /t5[-_]?xxl/i,
};
const CLIP_L: PartFile = { names: ['clip_l.safetensors'], pattern: /clip[-_]l/i };
const CLIP_G: PartFile = { names: ['clip_g.safetensors'], pattern: /clip[-_]g/i };
const FLUX_VAE: PartFile = {
  names: ['ae.safetensors', 'flux_vae.safetensors'],
  pattern: /^(ae|flux[-_.]?1?[-_]?(vae|ae))[-_.]/i,
};
const GUIDED = { cfg: true, negative: true } as const;

const STABLE_DIFFUSION: FamilyTraits = {
  ...{ width: 512, height: 512, steps: 20, maxSteps: MAX_STEPS, cfg: 7, takes: GUIDED },
  ...{ sampler: 'euler', scheduler: 'normal', encoders: null, vae: null },
};
const FLUX: FamilyTraits = {
  ...{ width: 1024, height: 1024, steps: 20, maxSteps: MAX_STEPS, cfg: 3.5 },
  takes: { cfg: true, negative: false },
  ...{ sampler: 'euler', scheduler: 'simple' },
  encoders: { node: 'DualCLIPLoader', type: 'flux', files: { clip_name1: T5, clip_name2: CLIP_L } },
  vae: FLUX_VAE,
};
const Z_IMAGE: FamilyTraits = {
  ...{ width: 1024, height: 1024, steps: 25, maxSteps: MAX_STEPS, cfg: 4, takes: GUIDED },
  ...{ sampler: 'res_multistep', scheduler: 'simple' },
  encoders: {
    node: 'CLIPLoader',
    type: 'lumina2',
    files: { clip_name: { names: ['qwen_3_4b.safetensors'], pattern: /qwen[-_.]?3[-_.]?4b/i } },
  },
  vae: FLUX_VAE,
};

/** The families as data; their graphs are in `inference/images/graphs.ts`. */
export const FAMILIES: Readonly<Record<ImageFamily, FamilyTraits>> = {
  sd15: STABLE_DIFFUSION,
  sdxl: { ...STABLE_DIFFUSION, width: 1024, height: 1024, steps: 25 },
  'sdxl-turbo': {
    ...STABLE_DIFFUSION,
    ...{ steps: 1, maxSteps: 10, cfg: 1, sampler: 'euler_ancestral', scheduler: 'turbo' },
  },
  sd35: {
    ...{ width: 1024, height: 1024, steps: 28, maxSteps: MAX_STEPS, cfg: 4.5, takes: GUIDED },
    ...{ sampler: 'euler', scheduler: 'sgm_uniform' },
    encoders: {
      node: 'TripleCLIPLoader',
      type: null,
      files: { clip_name1: CLIP_L, clip_name2: CLIP_G, clip_name3: T5 },
    },
    vae: null,
  },
  'flux-schnell': { ...FLUX, steps: 4, cfg: 1, takes: { cfg: false, negative: false } },
  'flux-dev': FLUX,
  flux2: {
    ...FLUX,
    cfg: 4,
    encoders: {
      node: 'CLIPLoader',
      type: 'flux2',
      files: {
        clip_name: { names: ['mistral_3_small_flux2_bf16.safetensors'], pattern: /mistral|flux2/i },
      },
    },
    vae: { names: ['flux2-vae.safetensors'], pattern: /flux[-_.]?2.*vae|^full_encoder_small_decoder/i },
  },
  'qwen-image': {
    ...{ width: 1328, height: 1328, steps: 20, maxSteps: MAX_STEPS, cfg: 4, takes: GUIDED },
    ...{ sampler: 'euler', scheduler: 'simple' },
    encoders: {
      node: 'CLIPLoader',
      type: 'qwen_image',
      files: {
        clip_name: {
          names: ['qwen_2.5_vl_7b_fp8_scaled.safetensors'],
          pattern: /qwen[-_.]?2[-_.]?5[-_.]?vl/i,
        },
      },
    },
    vae: { names: ['qwen_image_vae.safetensors'], pattern: /qwen[-_.]?image.*vae/i },
  },
  'z-image': Z_IMAGE,
  'z-image-turbo': { ...Z_IMAGE, steps: 8, cfg: 1, takes: { cfg: false, negative: false } },
};

/** Words of file names, in the order in which they are compared. */
const NAMES: readonly (readonly [RegExp, ImageFamily])[] = [
  [/z[-_.]?image.*turbo/i, 'z-image-turbo'],
  [/z[-_.]?image/i, 'z-image'],
  [/qwen[-_.]?image/i, 'qwen-image'],
  [/flux[-_.]?2/i, 'flux2'],
  [/schnell/i, 'flux-schnell'],
  [/flux/i, 'flux-dev'],
  [/sd[-_.]?3(?!\d)|stable[-_.]?diffusion[-_.]?3/i, 'sd35'],
  [/(sd)?[-_.]?xl.*turbo/i, 'sdxl-turbo'],
  [/xl|pony|illustrious|noobai/i, 'sdxl'],
  [/sd[-_.]?1|v1[-_.]?5/i, 'sd15'],
];

/** Returns the family that a file name suggests; null when it suggests none. */
export const familyByName = (name: string): ImageFamily | null =>
  NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? null;

/** Returns the workflow of a declared family: the variant that the file name suggests, else the family itself. */
export function variantOf(declared: DeclaredFamily, name: string): ImageFamily {
  const named = familyByName(name);
  if (declared === 'flux') return named === 'flux-schnell' ? 'flux-schnell' : 'flux-dev';
  return named?.startsWith(`${declared}-`) ? named : declared;
}
