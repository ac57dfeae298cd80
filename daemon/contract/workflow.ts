/** Settings of a request that a workflow can take (docs/spec/contract.md#image-slot-keys). */
export const WORKFLOW_INPUTS = [
  'prompt',
  'negative_prompt',
  'seed',
  'steps',
  'cfg',
  'width',
  'height',
  'n',
] as const;
export type WorkflowInput = (typeof WORKFLOW_INPUTS)[number];

/** The inputs of nodes that a setting is written to, each `NODE.input`. */
export type WorkflowMapping = Readonly<Partial<Record<WorkflowInput, readonly string[]>>>;

interface WorkflowNode {
  readonly class_type: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly _meta?: unknown;
}
export type WorkflowGraph = Readonly<Record<string, WorkflowNode>>;

/** A workflow in the format of ComfyUI's API. */
export interface Workflow {
  readonly graph: WorkflowGraph;
  readonly mapping: WorkflowMapping;
}

/** Why a file cannot be used as a workflow, in one sentence without its path. */
export class WorkflowError extends Error {}

/** Maximum bytes of a workflow; images are separate files. */
export const MAX_WORKFLOW_BYTES = 2 << 20;
/** Maximum bytes of a workflow in a request, whose body may have 1 MiB. */
export const MAX_SENT_WORKFLOW_BYTES = 900 * 1024;
/** The name of a workflow file beside the slot file. */
export const WORKFLOW_FILE_NAME = /^[A-Za-z0-9_][\w. -]{0,120}\.json$/;
/** `NODE.input`. */
export const WORKFLOW_TARGET = /^[\w:-]{1,64}\.[\w .-]{1,64}$/;
const MAX_NODES = 2_000;

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isLink = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'string';

/** Returns the graph of a file exported for the API. Throws WorkflowError. */
export function parseWorkflow(text: string): WorkflowGraph {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WorkflowError('It is not valid JSON.');
  }
  if (!isObject(value)) throw new WorkflowError('It is not a workflow.');
  if (Array.isArray(value.nodes))
    throw new WorkflowError(
      "It is a workflow in the format of ComfyUI's editor. Export it again with Workflow > Export (API).",
    );
  // The body of `POST /prompt` contains the same graph.
  const graph = isObject(value.prompt) && value.class_type === undefined ? value.prompt : value;
  const nodes = Object.entries(graph);
  if (nodes.length === 0 || nodes.length > MAX_NODES) throw new WorkflowError('It is not a workflow.');
  for (const [id, node] of nodes) {
    if (!isObject(node) || typeof node.class_type !== 'string' || !isObject(node.inputs))
      throw new WorkflowError(`Its node ${id.slice(0, 32)} has no class or no inputs.`);
  }
  return graph as unknown as WorkflowGraph;
}

/** Returns a node of the file; never a property that every object has. */
const nodeOf = (graph: WorkflowGraph, id: string): WorkflowNode | undefined =>
  Object.hasOwn(graph, id) ? graph[id] : undefined;

const NODE_WITH_PROMPTS = ['positive', 'negative'] as const;
/** Inputs with text, in the order in which they are used. */
const TEXT_INPUTS = ['text', 'prompt', 'clip_l', 't5xxl', 'text_g', 'text_l', 'value', 'string'];

/** Texts that were found behind nodes. A node that is still searched has none, so that circles end. */
type FoundTexts = Map<string, readonly string[]>;

/** Returns the inputs with the text that leads to a link, as `NODE.input`. */
function textsBehind(graph: WorkflowGraph, link: unknown, found: FoundTexts): readonly string[] {
  if (!isLink(link)) return [];
  const [id] = link;
  const known = found.get(id);
  if (known !== undefined) return known;
  found.set(id, []);
  const texts = textsOf(graph, id, found);
  found.set(id, texts);
  return texts;
}

function textsOf(graph: WorkflowGraph, id: string, found: FoundTexts): readonly string[] {
  const inputs = nodeOf(graph, id)?.inputs ?? {};
  const own = TEXT_INPUTS.filter((name) => typeof inputs[name] === 'string').map((name) => `${id}.${name}`);
  if (own.length > 0) return own;
  const linked = TEXT_INPUTS.filter((name) => isLink(inputs[name]));
  const next =
    linked.length > 0 ? linked : Object.keys(inputs).filter((name) => /cond|positive|^text/i.test(name));
  for (const name of next) {
    const texts = textsBehind(graph, inputs[name], found);
    if (texts.length > 0) return texts;
  }
  return [];
}

/** Returns the inputs of nodes that have one of these names and a number. */
const numbersNamed = (graph: WorkflowGraph, names: readonly string[]): string[] =>
  Object.entries(graph).flatMap(([id, { inputs }]) =>
    names.filter((name) => typeof inputs[name] === 'number').map((name) => `${id}.${name}`),
  );

/** Nodes whose width and height are those of the image. */
const isCanvas = ({ class_type, inputs }: WorkflowNode): boolean =>
  /empty.*latent|latent.*empty/i.test(class_type) && 'width' in inputs && 'height' in inputs;

/** Follows a link to the node that contains the number. */
function numberAt(graph: WorkflowGraph, id: string, name: string): string[] {
  const value = nodeOf(graph, id)?.inputs[name];
  if (typeof value === 'number') return [`${id}.${name}`];
  if (!isLink(value)) return [];
  return typeof nodeOf(graph, value[0])?.inputs.value === 'number' ? [`${value[0]}.value`] : [];
}

/**
 * Proposes which inputs of a workflow take the settings of a request: the texts behind the `positive` and `negative`
 * inputs of its samplers, and the numbers with the usual names. Pure.
 */
export function proposeMapping(graph: WorkflowGraph): WorkflowMapping {
  const nodes = Object.entries(graph);
  const found: FoundTexts = new Map();
  const [positive, negative] = NODE_WITH_PROMPTS.map((side) =>
    nodes.flatMap(([, { inputs }]) => textsBehind(graph, inputs[side], found)),
  ) as [string[], string[]];
  const guided = nodes.flatMap(([, { inputs }]) => textsBehind(graph, inputs.conditioning, found));
  const prompt = [...new Set(positive.length > 0 ? positive : guided)];
  const canvases = nodes.filter(([, node]) => isCanvas(node)).map(([id]) => id);
  const ofCanvas = (name: string) => [...new Set(canvases.flatMap((id) => numberAt(graph, id, name)))];
  const proposed: Record<WorkflowInput, string[]> = {
    prompt,
    negative_prompt: [...new Set(negative)].filter((each) => !prompt.includes(each)),
    seed: numbersNamed(graph, ['seed', 'noise_seed']),
    steps: numbersNamed(graph, ['steps']),
    cfg: numbersNamed(graph, ['cfg', 'guidance']).slice(0, 1),
    width: ofCanvas('width'),
    height: ofCanvas('height'),
    n: ofCanvas('batch_size'),
  };
  return mapped(proposed);
}

/** Returns a mapping without the settings that have no input. */
const mapped = (all: WorkflowMapping): WorkflowMapping =>
  Object.fromEntries(Object.entries(all).filter(([, targets]) => targets.length > 0));

/** Settings whose inputs contain text. The inputs of all others contain a number. */
const TEXT_SETTINGS: ReadonlySet<WorkflowInput> = new Set(['prompt', 'negative_prompt']);

/** An input that a setting can be written to. */
export interface WorkflowCandidate {
  /** `NODE.input`. */
  readonly target: string;
  /** The title of the node in ComfyUI, otherwise its class. */
  readonly node: string;
}

/** Returns the inputs of a workflow that can take a setting, in the order of the file. Pure. */
export function workflowCandidates(graph: WorkflowGraph, name: WorkflowInput): WorkflowCandidate[] {
  const type = TEXT_SETTINGS.has(name) ? 'string' : 'number';
  return Object.entries(graph).flatMap(([id, { class_type, inputs, _meta }]) => {
    const title = isObject(_meta) && typeof _meta.title === 'string' ? _meta.title : '';
    return Object.keys(inputs)
      .filter((input) => typeof inputs[input] === type)
      .map((input) => ({ target: `${id}.${input}`, node: title.trim() === '' ? class_type : title }));
  });
}

/** Splits `NODE.input`; a node of a subgraph has an id such as `12:3`. */
function targetOf(text: string): readonly [string, string] {
  const dot = text.indexOf('.');
  return [text.slice(0, dot), text.slice(dot + 1)];
}

/**
 * Returns the workflow with the mapping of the slot file in place of the proposed one, input by input. Throws
 * WorkflowError for an input that the workflow does not have, and for one without a prompt.
 */
export function mappedWorkflow(graph: WorkflowGraph, declared: WorkflowMapping): Workflow {
  for (const [name, targets] of Object.entries(declared)) {
    for (const target of targets ?? []) {
      const [id, input] = targetOf(target);
      const node = nodeOf(graph, id);
      if (node === undefined) throw new WorkflowError(`${name}: it has no node ${id}.`);
      if (!Object.hasOwn(node.inputs, input))
        throw new WorkflowError(
          `${name}: node ${id} (${node.class_type}) has no input ${input}, but ${Object.keys(node.inputs).join(', ')}.`,
        );
    }
  }
  const mapping = mapped({ ...proposeMapping(graph), ...declared });
  if ((mapping.prompt ?? []).length === 0)
    throw new WorkflowError(
      'No input for the prompt was found. Set prompt = "NODE.input" in [workflow.inputs].',
    );
  return { graph, mapping };
}

/** Returns the value that the workflow contains for a setting; undefined when it takes none. */
export function workflowValue({ graph, mapping }: Workflow, name: WorkflowInput): unknown {
  const [first] = mapping[name] ?? [];
  if (first === undefined) return undefined;
  const [id, input] = targetOf(first);
  return graph[id]?.inputs[input];
}

/** Returns the graph with these values; a setting that is absent keeps the value of the file. Pure. */
export function filledWorkflow(
  { graph, mapping }: Workflow,
  values: Readonly<Partial<Record<WorkflowInput, unknown>>>,
): WorkflowGraph {
  const filled: Record<string, WorkflowNode> = { ...graph };
  for (const name of WORKFLOW_INPUTS) {
    if (values[name] === undefined) continue;
    for (const target of mapping[name] ?? []) {
      const [id, input] = targetOf(target);
      const node = filled[id];
      if (node !== undefined) filled[id] = { ...node, inputs: { ...node.inputs, [input]: values[name] } };
    }
  }
  return filled;
}
