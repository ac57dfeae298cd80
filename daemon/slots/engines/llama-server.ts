import type { SlotTypeName } from '../../contract/slots.ts';
import { cacheBytes, checkpointBytes } from '../../models/context-memory.ts';
import type { SlotConfig, Speculation } from '../config/slot-config.ts';
import { maxCheckpoints, promptCacheBytes } from '../workers/checkpoint-limits.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, containerSpec, inside, processSpec } from './common.ts';
import type { Dialect, Engine, Launch, LaunchParams, SlotModel } from './engine.ts';
import { ggufLaunch, windowOf } from './gguf.ts';
import type { FatalOutput, KeyDelivery, Probe } from './run-spec.ts';
import { backendOf } from './visible-devices.ts';

const PROBE: Probe = { path: '/health', loading: [503] };
const KEY: KeyDelivery = { by: 'env', name: 'LLAMA_API_KEY' };
const ALL_LAYERS = '999';

const TYPE_ARGS: Readonly<Partial<Record<SlotTypeName, readonly string[]>>> = {
  llm: ['--jinja'],
  embedding: ['--embeddings'],
  rerank: ['--reranking'],
};

/** Images of the llama.cpp project, by backend. */
const IMAGES: Readonly<Record<string, string>> = {
  auto: 'ghcr.io/ggml-org/llama.cpp:server',
  cpu: 'ghcr.io/ggml-org/llama.cpp:server',
  cuda: 'ghcr.io/ggml-org/llama.cpp:server-cuda',
  vulkan: 'ghcr.io/ggml-org/llama.cpp:server-vulkan',
  rocm: 'ghcr.io/ggml-org/llama.cpp:server-rocm',
};

/**
 * The name of the only device that remains when a variable hides the others. The program exits when it has no such
 * device.
 */
const FIRST_DEVICE: Readonly<Record<string, string>> = { cuda: 'CUDA0', vulkan: 'Vulkan0', rocm: 'ROCm0' };

const MIB = 1024 * 1024;

/**
 * Bounds the host memory that the program takes in addition to the window: its defaults are 8 GiB of prompt cache and 32
 * checkpoints for each sequence. Older builds ignore variables that they do not know, but exit for an unknown argument.
 */
function cacheLimits(model: SlotModel, { context, batch }: Pick<Launch, 'context' | 'batch'>) {
  const memory = model.contextMemory ?? null;
  const step = { context, stepCells: batch };
  const [sequence, checkpoint] =
    memory === null
      ? [Number.POSITIVE_INFINITY, 0]
      : [cacheBytes(memory, step), checkpointBytes(memory, step.context)];
  return {
    LLAMA_ARG_CACHE_RAM: String(Math.ceil(promptCacheBytes(sequence) / MIB)),
    LLAMA_ARG_CTX_CHECKPOINTS: String(maxCheckpoints(checkpoint)),
  };
}

/** The program's own number of tokens that it predicts ahead. */
const DRAFT_TOKENS = 3;

/** Arguments of each way of speculation; `limit` sets the number of tokens. */
const SPECULATION_ARGS: Readonly<Record<Speculation, { type: string; limit: string } | null>> = {
  auto: null,
  off: null,
  ngram: { type: 'ngram-simple', limit: '--spec-ngram-simple-size-m' },
  draft: { type: 'draft-simple', limit: '--spec-draft-n-max' },
  mtp: { type: 'draft-mtp', limit: '--spec-draft-n-max' },
};

/** Returns the arguments of speculation; none when its model is not there. */
function speculationArgs(config: SlotConfig, model: SlotModel, pathOf: (path: string) => string): string[] {
  const args = SPECULATION_ARGS[config.speculation];
  if (args === null || isDraftMissing(config, model)) return [];
  return [
    ...['--spec-type', args.type],
    ...(config.draftTokens === null ? [] : [args.limit, String(config.draftTokens)]),
    ...(model.draft?.path ? ['--spec-draft-model', pathOf(model.draft.path)] : []),
  ];
}

const isDraftMissing = ({ draftModel }: SlotConfig, { draft }: SlotModel): boolean =>
  draftModel !== null && draft === undefined;

/** Returns the bytes of the draft model: its weights and a window for each sequence. */
function draftBytes({ draft }: SlotModel, { context, sequences, batch }: Omit<Launch, 'how'>): number {
  if (draft === undefined) return 0;
  const window = draft.contextMemory ? cacheBytes(draft.contextMemory, { context, stepCells: batch }) : 0;
  return draft.sizeBytes + sequences * window;
}

/** Returns the tokens predicted ahead by layers of the model itself, from the keys or arguments of the slot file. */
function draftTokens({ speculation, draftTokens: tokens, extraArgs: words }: SlotConfig): number {
  if (speculation === 'mtp') return tokens ?? DRAFT_TOKENS;
  const argument = (name: string) => {
    const index = words.findIndex((word) => word === name || word.startsWith(`${name}=`));
    if (index === -1) return undefined;
    const [, value] = (words[index] as string).split('=');
    return value ?? words[index + 1];
  };
  if (!(argument('--spec-type') ?? '').split(',').includes('draft-mtp')) return 0;
  return Math.max(1, Number(argument('--spec-draft-n-max') ?? DRAFT_TOKENS) || DRAFT_TOKENS);
}

const NO_GPU: FatalOutput = {
  text: 'no usable GPU found',
  reason: 'This llama-server has no backend for the GPU of the slot. Install one, or set device = "cpu".',
};

/** With device `auto` the program places layers itself. */
function deviceArgs(device: string): string[] {
  const [backend, index] = device.split(':') as [string, string?];
  if (backend === 'auto') return [];
  if (backend === 'cpu') return ['--device', 'none'];
  const first = FIRST_DEVICE[backend];
  return [...(index === undefined || first === undefined ? [] : ['--device', first]), '-ngl', ALL_LAYERS];
}

/** Arguments of the slot file that choose or disable the projector. */
const OWN_PROJECTOR = /^(-mm|--mmproj|-mmu|--mmproj-url|--no-mmproj)(=|$)/;

/** Returns the projector of a chat model: the model's own, unless the slot file chooses otherwise. */
function projectorOf(config: SlotConfig, model: SlotModel): string | null {
  if (config.type !== 'llm' || config.extraArgs.some((word) => OWN_PROJECTOR.test(word))) return null;
  return model.projectorPath ?? null;
}

/** With device `auto` the program must place everything else on the card. */
const expertArgs = (device: string, layers: number): string[] => [
  ...(device === 'auto' ? ['-ngl', ALL_LAYERS] : []),
  ...['--n-cpu-moe', String(layers)],
];

/** `-c` is the sum of all context windows. Models that are not chat models evaluate a text in one step. */
function argsOf(launch: Omit<Launch, 'how'>, device: string, projector: string | null): string[] {
  const { type, modelId, context, parallel, threads, batch, expertLayersOnCpu } = launch;
  const step = type === 'llm' ? [] : ['-b', String(batch), '-ub', String(batch)];
  return [
    ...['-m', '{model}', '-a', modelId, '--host', '{host}', '--port', '{port}'],
    ...(projector === null ? [] : ['--mmproj', projector]),
    ...['-c', String(context * parallel), '-np', String(parallel), '-t', String(threads)],
    ...step,
    ...deviceArgs(device),
    ...(expertLayersOnCpu === undefined ? [] : expertArgs(device, expertLayersOnCpu)),
    '--no-webui',
    ...(TYPE_ARGS[type] ?? []),
  ];
}

function plan(params: LaunchParams): Launch {
  const { config, model } = params;
  const dialect: Dialect = { nativeRerank: true, rawRerank: true, model: model.id };
  if (config.runner === 'attach') return { ...commonLaunch(params, dialect), how: attachSpec(config, PROBE) };
  const projector = projectorOf(config, model);
  const common = ggufLaunch(params, dialect);
  const ahead = isDraftMissing(config, model) ? 0 : draftTokens(config);
  const draft = draftBytes(model, common);
  const launch = {
    ...common,
    env: { ...(config.type === 'llm' ? cacheLimits(model, common) : {}), ...common.env },
    sequences: config.parallel,
    ...(ahead === 0 ? {} : { draftTokens: ahead }),
    ...(draft === 0 ? {} : { draftBytes: draft }),
    degraded: isDraftMissing(config, model)
      ? `The draft model ${config.draftModel} was not found, so the slot runs without speculation.`
      : common.degraded,
    ...(params.expertLayersOnCpu ? { expertLayersOnCpu: params.expertLayersOnCpu } : {}),
    ...(projector === null ? {} : { projectorBytes: model.projectorBytes ?? 0 }),
  };
  const start = { key: KEY, probe: PROBE };
  if (config.runner === 'container') {
    const image = IMAGES[launch.device] as string;
    const args = [
      ...argsOf(launch, config.device, projector && inside(projector)),
      ...speculationArgs(config, model, inside),
    ];
    const extraFiles = [projector, model.draft?.path ?? null].filter((path) => path !== null);
    const plan = { ...start, args, image, port: 8080, extraFiles };
    return { ...launch, how: containerSpec(config, model.path, plan) };
  }
  const args = [
    ...argsOf(launch, config.device, projector),
    ...speculationArgs(config, model, (path) => path),
  ];
  const install =
    'Install llama.cpp (package llama.cpp-tools on Debian) or name the program: command = ["/path/llama-server"].';
  const unfit = ['auto', 'cpu'].includes(launch.device) ? [] : [NO_GPU];
  // The program does not save the state of pictures.
  const savesSequences = config.type === 'llm' && projector === null;
  const plan = { ...start, args, command: 'llama-server', install, unfit, savesSequences };
  return { ...launch, how: processSpec(config, plan) };
}

function objection(config: SlotConfig): string | null {
  if (backendOf(config.device) !== 'npu') return null;
  return 'device: engine llama-server runs on auto, cpu, cuda:N, rocm:N or vulkan:N, not on npu';
}

/** llama.cpp's own server, with every backend that it was built for. */
export const llamaServer: Engine = {
  id: 'llama-server',
  types: new Set(Object.keys(TYPE_ARGS) as SlotTypeName[]),
  runners: new Set(['process', 'container', 'attach']),
  modelSource: ({ runner }) => (runner === 'attach' ? 'name' : 'registry'),
  objection,
  plan,
  context: (config, model) => (config.runner === 'attach' ? (config.context ?? 0) : windowOf(config, model)),
  checks: (launch) => checksOf(launch, { health: '/health', models: launch.how.runner !== 'attach' }),
  answersWhileServing: true,
  takesProjector: true,
};
