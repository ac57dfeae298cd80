/** The nodes that the ComfyUI stand-in knows, as the real program describes and checks them. */

/** `choice`: one of a list; a capital word: a link to an output of that type. */
type Input =
  | { readonly kind: 'int'; readonly min: number; readonly max: number }
  | { readonly kind: 'float'; readonly min: number; readonly max: number }
  | { readonly kind: 'text' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly of: string | readonly string[] }
  | { readonly kind: 'link'; readonly type: string };

interface NodeClass {
  readonly inputs: Readonly<Record<string, Input>>;
  readonly gives: readonly string[];
  readonly output?: boolean;
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
  CheckpointLoaderSimple: { inputs: { ckpt_name: choice('checkpoints') }, gives: ['MODEL', 'CLIP', 'VAE'] },
  UNETLoader: {
    inputs: { unet_name: choice('unet'), weight_dtype: choice(['default', 'fp8_e4m3fn', 'fp8_e5m2']) },
    gives: ['MODEL'],
  },
  DualCLIPLoader: {
    inputs: {
      clip_name1: choice('clip'),
      clip_name2: choice('clip'),
      type: choice(['sdxl', 'sd3', 'flux']),
    },
    gives: ['CLIP'],
  },
  VAELoader: { inputs: { vae_name: choice('vae') }, gives: ['VAE'] },
  CLIPTextEncode: { inputs: { text, clip: link('CLIP') }, gives: ['CONDITIONING'] },
  ConditioningZeroOut: { inputs: { conditioning: link('CONDITIONING') }, gives: ['CONDITIONING'] },
  FluxGuidance: {
    inputs: { conditioning: link('CONDITIONING'), guidance: float(0, 100) },
    gives: ['CONDITIONING'],
  },
  EmptyLatentImage: { inputs: canvas(16), gives: ['LATENT'] },
  EmptySD3LatentImage: { inputs: canvas(16), gives: ['LATENT'] },
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
    gives: ['LATENT'],
  },
  KSamplerSelect: { inputs: { sampler_name: choice(SAMPLERS) }, gives: ['SAMPLER'] },
  SDTurboScheduler: {
    inputs: { model: link('MODEL'), steps: int(1, 10), denoise: float(0, 1) },
    gives: ['SIGMAS'],
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
    gives: ['LATENT', 'LATENT'],
  },
  VAEDecode: { inputs: { samples: link('LATENT'), vae: link('VAE') }, gives: ['IMAGE'] },
  PreviewImage: { inputs: { images: link('IMAGE') }, gives: [], output: true },
};

export type Installed = Readonly<Record<'checkpoints' | 'unet' | 'clip' | 'vae', readonly string[]>>;
export type PromptNode = { class_type?: string; inputs: Record<string, unknown> };
export type Prompt = Record<string, PromptNode>;

export interface Fault {
  readonly type: string;
  readonly message: string;
  readonly details: string;
  readonly extra_info: { input_name?: string };
}

export interface Verdict {
  /** The error of a refused prompt, as the real program words it. */
  readonly error: { type: string; message: string; details: string; extra_info: object } | null;
  readonly node_errors: Record<string, { errors: Fault[]; dependent_outputs: string[]; class_type: string }>;
}

const choicesOf = (input: Extract<Input, { kind: 'choice' }>, installed: Installed): readonly string[] =>
  typeof input.of === 'string' ? installed[input.of as keyof Installed] : input.of;

const fault = (type: string, name: string, details: string): Fault => ({
  type,
  message: type.replaceAll('_', ' '),
  details,
  extra_info: { input_name: name },
});

/** What is wrong with one input of a node; null when nothing is. */
function faultOf(
  name: string,
  input: Input,
  value: unknown,
  prompt: Prompt,
  installed: Installed,
): Fault | null {
  if (value === undefined) return fault('required_input_missing', name, name);
  if (input.kind === 'link') {
    if (!Array.isArray(value) || value.length !== 2) return fault('bad_linked_input', name, name);
    const [id, slot] = value as [string, number];
    const given = CLASSES[prompt[id]?.class_type ?? '']?.gives[slot];
    if (given === input.type) return null;
    return fault('return_type_mismatch', name, `${name}, ${given} != ${input.type}`);
  }
  if (input.kind === 'text')
    return typeof value === 'string' ? null : fault('invalid_input_type', name, name);
  if (input.kind === 'flag')
    return typeof value === 'boolean' ? null : fault('invalid_input_type', name, name);
  if (input.kind === 'choice') {
    const list = choicesOf(input, installed);
    if (list.includes(value as string)) return null;
    return fault('value_not_in_list', name, `${name}: '${value}' not in ${JSON.stringify(list)}`);
  }
  if (typeof value !== 'number' || (input.kind === 'int' && !Number.isInteger(value))) {
    return fault('invalid_input_type', name, name);
  }
  if (value < input.min) return fault('value_smaller_than_min', name, `${name} ${value}`);
  return value > input.max ? fault('value_bigger_than_max', name, `${name} ${value}`) : null;
}

const refused = (type: string, message: string): Verdict => ({
  error: { type, message, details: '', extra_info: {} },
  node_errors: {},
});

/** Judges a prompt as the real program does before it takes it into its queue. */
export function judgePrompt(prompt: Prompt, installed: Installed): Verdict {
  for (const [id, { class_type }] of Object.entries(prompt)) {
    if (class_type === undefined) return refused('invalid_prompt', `Node ${id} has no class_type`);
    if (!(class_type in CLASSES)) {
      return refused('invalid_prompt', `Cannot execute because node ${class_type} does not exist.`);
    }
  }
  const outputs = Object.entries(prompt).filter(([, { class_type = '' }]) => CLASSES[class_type]?.output);
  if (outputs.length === 0) return refused('prompt_no_outputs', 'Prompt has no outputs');
  const node_errors: Verdict['node_errors'] = {};
  for (const [id, { class_type = '', inputs }] of Object.entries(prompt)) {
    const known = CLASSES[class_type]?.inputs ?? {};
    const errors = Object.entries(known)
      .map(([name, input]) => faultOf(name, input, inputs[name], prompt, installed))
      .filter((each) => each !== null);
    const dependent_outputs = outputs.map(([output]) => output);
    if (errors.length > 0) node_errors[id] = { errors, dependent_outputs, class_type };
  }
  if (Object.keys(node_errors).length === 0) return { error: null, node_errors };
  return { ...refused('prompt_outputs_failed_validation', 'Prompt outputs failed validation'), node_errors };
}

/** The answer of `GET /object_info/{class}`; `{}` for a class that is not there. */
export function objectInfo(nodeClass: string, installed: Installed): object {
  const known = CLASSES[nodeClass];
  if (known === undefined) return {};
  const required = Object.entries(known.inputs).map(([name, input]) => {
    if (input.kind === 'choice') return [name, [choicesOf(input, installed), {}]];
    return [name, [input.kind === 'link' ? input.type : input.kind.toUpperCase(), {}]];
  });
  return { [nodeClass]: { input: { required: Object.fromEntries(required) }, output: known.gives } };
}
