/** The nodes of the ComfyUI stand-in, described and validated as in the real program. */

/** `choice`: a value of a list. `link`: an output of another node that has this type. */
type Input =
  | { readonly kind: 'int'; readonly min: number; readonly max: number }
  | { readonly kind: 'float'; readonly min: number; readonly max: number }
  | { readonly kind: 'text' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly of: string | readonly string[] }
  | { readonly kind: 'link'; readonly type: string };

interface NodeClass {
  readonly inputs: Readonly<Record<string, Input>>;
  readonly outputTypes: readonly string[];
  readonly isOutput?: boolean;
}

const int = (min: number, max: number): Input => ({ kind: 'int', min, max });
const float = (min: number, max: number): Input => ({ kind: 'float', min, max });
const link = (type: string): Input => ({ kind: 'link', type });
const choice = (of: string | readonly string[]): Input => ({ kind: 'choice', of });
const text: Input = { kind: 'text' };

const SAMPLERS = ['euler', 'euler_ancestral', 'heun', 'dpmpp_2m', 'ddim'];
const SCHEDULERS = ['normal', 'karras', 'exponential', 'sgm_uniform', 'simple', 'ddim_uniform'];
const SEED = int(0, 2 ** 64 - 1);
const canvas = (side: number): Record<string, Input> => ({
  width: int(side, 16_384),
  height: int(side, 16_384),
  batch_size: int(1, 4096),
});

const CLASSES: Readonly<Record<string, NodeClass>> = {
  CheckpointLoaderSimple: {
    inputs: { ckpt_name: choice('checkpoints') },
    outputTypes: ['MODEL', 'CLIP', 'VAE'],
  },
  UNETLoader: {
    inputs: { unet_name: choice('unet'), weight_dtype: choice(['default', 'fp8_e4m3fn', 'fp8_e5m2']) },
    outputTypes: ['MODEL'],
  },
  DualCLIPLoader: {
    inputs: {
      clip_name1: choice('clip'),
      clip_name2: choice('clip'),
      type: choice(['sdxl', 'sd3', 'flux']),
    },
    outputTypes: ['CLIP'],
  },
  VAELoader: { inputs: { vae_name: choice('vae') }, outputTypes: ['VAE'] },
  CLIPTextEncode: { inputs: { text, clip: link('CLIP') }, outputTypes: ['CONDITIONING'] },
  ConditioningZeroOut: { inputs: { conditioning: link('CONDITIONING') }, outputTypes: ['CONDITIONING'] },
  FluxGuidance: {
    inputs: { conditioning: link('CONDITIONING'), guidance: float(0, 100) },
    outputTypes: ['CONDITIONING'],
  },
  EmptyLatentImage: { inputs: canvas(16), outputTypes: ['LATENT'] },
  EmptySD3LatentImage: { inputs: canvas(16), outputTypes: ['LATENT'] },
  KSampler: {
    inputs: {
      model: link('MODEL'),
      seed: SEED,
      steps: int(1, 10_000),
      cfg: float(0, 100),
      sampler_name: choice(SAMPLERS),
      scheduler: choice(SCHEDULERS),
      positive: link('CONDITIONING'),
      negative: link('CONDITIONING'),
      latent_image: link('LATENT'),
      denoise: float(0, 1),
    },
    outputTypes: ['LATENT'],
  },
  KSamplerSelect: { inputs: { sampler_name: choice(SAMPLERS) }, outputTypes: ['SAMPLER'] },
  SDTurboScheduler: {
    inputs: { model: link('MODEL'), steps: int(1, 10), denoise: float(0, 1) },
    outputTypes: ['SIGMAS'],
  },
  SamplerCustom: {
    inputs: {
      model: link('MODEL'),
      add_noise: { kind: 'flag' },
      noise_seed: SEED,
      cfg: float(0, 100),
      positive: link('CONDITIONING'),
      negative: link('CONDITIONING'),
      sampler: link('SAMPLER'),
      sigmas: link('SIGMAS'),
      latent_image: link('LATENT'),
    },
    outputTypes: ['LATENT', 'LATENT'],
  },
  VAEDecode: { inputs: { samples: link('LATENT'), vae: link('VAE') }, outputTypes: ['IMAGE'] },
  PreviewImage: { inputs: { images: link('IMAGE') }, outputTypes: [], isOutput: true },
};

export type Installed = Readonly<Record<'checkpoints' | 'unet' | 'clip' | 'vae', readonly string[]>>;
export type PromptNode = { class_type?: string; inputs: Record<string, unknown> };
export type Prompt = Record<string, PromptNode>;

export interface InputError {
  readonly type: string;
  readonly message: string;
  readonly details: string;
  readonly extra_info: { input_name?: string };
}

export interface ValidationResult {
  /** The error of a rejected prompt, worded as by the real program. */
  readonly error: { type: string; message: string; details: string; extra_info: object } | null;
  readonly node_errors: Record<
    string,
    { errors: InputError[]; dependent_outputs: string[]; class_type: string }
  >;
}

const choicesOf = (input: Extract<Input, { kind: 'choice' }>, installed: Installed): readonly string[] =>
  typeof input.of === 'string' ? installed[input.of as keyof Installed] : input.of;

const inputError = (type: string, name: string, details: string): InputError => ({
  type,
  message: type.replaceAll('_', ' '),
  details,
  extra_info: { input_name: name },
});

/** Returns the error of one input of a node, or null. */
function validateInput(
  name: string,
  input: Input,
  value: unknown,
  prompt: Prompt,
  installed: Installed,
): InputError | null {
  if (value === undefined) return inputError('required_input_missing', name, name);
  if (input.kind === 'link') {
    if (!Array.isArray(value) || value.length !== 2) return inputError('bad_linked_input', name, name);
    const [id, slot] = value as [string, number];
    const outputType = CLASSES[prompt[id]?.class_type ?? '']?.outputTypes[slot];
    if (outputType === input.type) return null;
    return inputError('return_type_mismatch', name, `${name}, ${outputType} != ${input.type}`);
  }
  if (input.kind === 'text')
    return typeof value === 'string' ? null : inputError('invalid_input_type', name, name);
  if (input.kind === 'flag')
    return typeof value === 'boolean' ? null : inputError('invalid_input_type', name, name);
  if (input.kind === 'choice') {
    const list = choicesOf(input, installed);
    if (list.includes(value as string)) return null;
    return inputError('value_not_in_list', name, `${name}: '${value}' not in ${JSON.stringify(list)}`);
  }
  if (typeof value !== 'number' || (input.kind === 'int' && !Number.isInteger(value))) {
    return inputError('invalid_input_type', name, name);
  }
  if (value < input.min) return inputError('value_smaller_than_min', name, `${name} ${value}`);
  return value > input.max ? inputError('value_bigger_than_max', name, `${name} ${value}`) : null;
}

const rejection = (type: string, message: string): ValidationResult => ({
  error: { type, message, details: '', extra_info: {} },
  node_errors: {},
});

/** Validates a prompt as the real program does before it queues it. */
export function validatePrompt(prompt: Prompt, installed: Installed): ValidationResult {
  for (const [id, { class_type }] of Object.entries(prompt)) {
    if (class_type === undefined) return rejection('invalid_prompt', `Node ${id} has no class_type`);
    if (!(class_type in CLASSES)) {
      return rejection('invalid_prompt', `Cannot execute because node ${class_type} does not exist.`);
    }
  }
  const outputs = Object.entries(prompt).filter(([, { class_type = '' }]) => CLASSES[class_type]?.isOutput);
  if (outputs.length === 0) return rejection('prompt_no_outputs', 'Prompt has no outputs');
  const node_errors: ValidationResult['node_errors'] = {};
  for (const [id, { class_type = '', inputs }] of Object.entries(prompt)) {
    const known = CLASSES[class_type]?.inputs ?? {};
    const errors = Object.entries(known)
      .map(([name, input]) => validateInput(name, input, inputs[name], prompt, installed))
      .filter((each) => each !== null);
    const dependent_outputs = outputs.map(([output]) => output);
    if (errors.length > 0) node_errors[id] = { errors, dependent_outputs, class_type };
  }
  if (Object.keys(node_errors).length === 0) return { error: null, node_errors };
  return {
    ...rejection('prompt_outputs_failed_validation', 'Prompt outputs failed validation'),
    node_errors,
  };
}

/** Returns the response of `GET /object_info/{class}`; `{}` for an unknown class. */
export function objectInfo(nodeClass: string, installed: Installed): object {
  const known = CLASSES[nodeClass];
  if (known === undefined) return {};
  const required = Object.entries(known.inputs).map(([name, input]) => {
    if (input.kind === 'choice') return [name, [choicesOf(input, installed), {}]];
    return [name, [input.kind === 'link' ? input.type : input.kind.toUpperCase(), {}]];
  });
  return { [nodeClass]: { input: { required: Object.fromEntries(required) }, output: known.outputTypes } };
}
