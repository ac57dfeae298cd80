/**
 * The nodes of the ComfyUI stand-in: what `/object_info` of ComfyUI 0.30.0 reports (`comfyui-nodes.json`), with the
 * validation that the real program applies before it queues a prompt (`execution.py`, `validate_inputs`).
 */
import { readFileSync } from 'node:fs';

/** `[type, limits]`. The type is a word, a list of choices, or `$files` with the folder. */
type Input = readonly [string | readonly string[], (Limits | string)?];
interface Limits {
  readonly min?: number;
  readonly max?: number;
  readonly options?: readonly string[];
}
interface NodeClass {
  readonly input: {
    readonly required?: Readonly<Record<string, Input>>;
    readonly optional?: Readonly<Record<string, Input>>;
  };
  readonly output: readonly string[];
  readonly output_node: boolean;
}

const CLASSES = JSON.parse(readFileSync(new URL('comfyui-nodes.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, NodeClass>
>;

/** Folders of ComfyUI's models. */
export type Installed = Readonly<
  Record<'checkpoints' | 'diffusion_models' | 'text_encoders' | 'vae', readonly string[]> & {
    loras?: readonly string[];
  }
>;
export type PromptNode = { class_type?: string; inputs: Record<string, unknown> };
export type Prompt = Record<string, PromptNode>;

export interface InputError {
  readonly type: string;
  readonly message: string;
  readonly details: string;
  readonly extra_info: Record<string, unknown>;
}

export interface ValidationResult {
  /** The error of a rejected prompt, worded as by the real program. */
  readonly error: { type: string; message: string; details: string; extra_info: object } | null;
  readonly node_errors: Record<
    string,
    { errors: InputError[]; dependent_outputs: string[]; class_type: string }
  >;
}

/** Returns the choices of an input; null when it has none. */
function choicesOf([type, more]: Input, installed: Installed): readonly string[] | null {
  if (typeof type !== 'string') return type;
  if (type === '$files') return installed[more as keyof Installed] ?? [];
  if (type !== 'COMBO' || typeof more !== 'object') return null;
  return more.options ?? [];
}

const SCALARS: ReadonlySet<string> = new Set([
  'INT',
  'FLOAT',
  'STRING',
  'BOOLEAN',
  'COMBO',
  '$files',
  '$any',
]);

function inputError(
  type: string,
  message: string,
  details: string,
  name: string,
  value?: unknown,
): InputError {
  const extra_info = { input_name: name, ...(value !== undefined && { received_value: value }) };
  return { type, message, details, extra_info };
}

/** Returns the error of one input of a node, or null. */
function validateInput(name: string, input: Input, value: unknown, prompt: Prompt, installed: Installed) {
  const type = typeof input[0] === 'string' ? input[0] : 'COMBO';
  if (Array.isArray(value)) {
    if (value.length !== 2)
      return inputError(
        'bad_linked_input',
        'Bad linked input, must be a length-2 list of [node_id, slot_index]',
        name,
        name,
        value,
      );
    const [id, slot] = value as [string, number];
    const received = CLASSES[prompt[id]?.class_type ?? '']?.output[slot];
    if (received === type) return null;
    const details = `${name}, received_type(${received}) mismatch input_type(${type})`;
    return inputError('return_type_mismatch', 'Return type mismatch between linked nodes', details, name);
  }
  if (!SCALARS.has(type)) {
    // The real program fails later, when it executes the node with a value in place of a link.
    return inputError(
      'invalid_input_type',
      `Failed to convert an input value to a ${type} value`,
      name,
      name,
      value,
    );
  }
  const isNumber = type === 'INT' || type === 'FLOAT';
  if (isNumber && (typeof value !== 'number' || (type === 'INT' && !Number.isInteger(value))))
    return inputError(
      'invalid_input_type',
      `Failed to convert an input value to a ${type} value`,
      name,
      name,
      value,
    );
  const limits = typeof input[1] === 'object' ? input[1] : {};
  if (isNumber && limits.min !== undefined && (value as number) < limits.min)
    return inputError(
      'value_smaller_than_min',
      `Value ${value} smaller than min of ${limits.min}`,
      name,
      name,
      value,
    );
  if (isNumber && limits.max !== undefined && (value as number) > limits.max)
    return inputError(
      'value_bigger_than_max',
      `Value ${value} bigger than max of ${limits.max}`,
      name,
      name,
      value,
    );
  const choices = choicesOf(input, installed);
  if (choices === null || choices.includes(value as string)) return null;
  const list = choices.length > 20 ? `(list of length ${choices.length})` : `['${choices.join("', '")}']`;
  return inputError(
    'value_not_in_list',
    'Value not in list',
    `${name}: '${value}' not in ${list}`,
    name,
    value,
  );
}

const rejection = (type: string, message: string, details = '', extra_info = {}): ValidationResult => ({
  error: { type, message, details, extra_info },
  node_errors: {},
});

function unusableNode(id: string, class_type: string | undefined): ValidationResult | null {
  if (class_type === undefined)
    return rejection(
      'missing_node_type',
      `Node 'ID #${id}' has no class_type. The workflow may be corrupted or a custom node is missing.`,
      `Node ID '#${id}'`,
      { node_id: id, class_type: null, node_title: null },
    );
  if (class_type in CLASSES) return null;
  return rejection(
    'missing_node_type',
    `Node '${class_type}' not found. The custom node may not be installed.`,
    `Node ID '#${id}'`,
    { node_id: id, class_type, node_title: class_type },
  );
}

/** Validates a prompt as the real program does before it queues it. */
export function validatePrompt(prompt: Prompt, installed: Installed): ValidationResult {
  for (const [id, { class_type }] of Object.entries(prompt)) {
    const unusable = unusableNode(id, class_type);
    if (unusable !== null) return unusable;
  }
  const outputs = Object.entries(prompt).filter(
    ([, { class_type = '' }]) => CLASSES[class_type]?.output_node,
  );
  if (outputs.length === 0) return rejection('prompt_no_outputs', 'Prompt has no outputs');
  const node_errors: ValidationResult['node_errors'] = {};
  for (const [id, { class_type = '', inputs }] of Object.entries(prompt)) {
    const { required = {}, optional = {} } = CLASSES[class_type]?.input ?? {};
    const errors = Object.entries({ ...required, ...optional })
      .map(([name, input]) => {
        if (inputs[name] !== undefined) return validateInput(name, input, inputs[name], prompt, installed);
        if (!(name in required)) return null;
        return inputError('required_input_missing', 'Required input is missing', name, name);
      })
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
  const described = (inputs: Readonly<Record<string, Input>> = {}) =>
    Object.fromEntries(
      Object.entries(inputs).map(([name, input]) => {
        const files = input[0] === '$files' || input[0] === '$any';
        return [name, files ? [choicesOf(input, installed) ?? [], {}] : input];
      }),
    );
  const input = { required: described(known.input.required), optional: described(known.input.optional) };
  return { [nodeClass]: { ...known, input, name: nodeClass } };
}
