import type { SlotTypeName } from '../../contract/slots.ts';
import type { SlotConfig } from '../slot-file.ts';
import type { WorkerConfig, WorkerKind } from '../workers/protocol.ts';
import { checks } from './embedded-checks.ts';
import type { Dialect, Engine, Launch, LaunchOrder, SlotModel } from './engine.ts';
import type { WorkerHow } from './how.ts';

/** Window in tokens when neither slot nor model asks for less. */
const DEFAULT_CONTEXT = 8192;
/** Tokens that a chat evaluates in one step. */
const CHAT_BATCH = 512;
const START_BASE_MS = 60_000;
/** A slow disk still reads this much per millisecond. */
const BYTES_PER_MS = 20_000;
const LONGEST_START_MS = 1_800_000;

/** Device word of a slot file → the backend, and the variable that picks one device of it. */
const BACKENDS: Readonly<Record<string, string | null>> = {
  auto: null,
  cpu: null,
  vulkan: 'GGML_VK_VISIBLE_DEVICES',
  cuda: 'CUDA_VISIBLE_DEVICES',
};

/** The types that are served and what is made of text for each. */
const KINDS: Readonly<Record<string, WorkerKind>> = {
  llm: 'chat',
  embedding: 'embedding',
  rerank: 'rerank',
};

const backendOf = (device: string): string => device.split(':')[0] as string;

function deviceEnv(device: string): Record<string, string> {
  const [backend, index] = device.split(':');
  const variable = BACKENDS[backend as string];
  return variable && index !== undefined ? { [variable]: index } : {};
}

function windowOf(config: SlotConfig, model: SlotModel): number {
  const trained = model.contextTrain ?? DEFAULT_CONTEXT;
  return Math.min(config.context ?? DEFAULT_CONTEXT, trained);
}

function degradedBy(config: SlotConfig, context: number): string | null {
  if (config.context === null || config.context <= context) return null;
  return `The window is ${context} tokens instead of ${config.context}: the model was trained for no more.`;
}

const dialect = (model: string): Dialect => ({ nativeRerank: true, model });

function how(launch: Omit<Launch, 'how'>, queueLimit: number): WorkerHow {
  const { modelPath, modelId, context, parallel, threads, batch } = launch;
  const device = launch.device as WorkerConfig['device'];
  const kind = KINDS[launch.type] ?? 'chat';
  const path = modelPath ?? '';
  const asked = { kind, modelPath: path, modelId, context, parallel, threads, device, batch, queueLimit };
  return { runner: 'worker', program: 'llama', settings: { ...asked, gpuLayers: null } };
}

function plan({ config, model, threads, queueLimit }: LaunchOrder): Launch {
  const context = windowOf(config, model);
  const whole = config.type !== 'llm';
  const launch = {
    slot: config.name,
    engine: config.engine,
    type: config.type,
    modelId: model.id,
    modelPath: model.path,
    demo: model.demo,
    context,
    parallel: config.parallel,
    sequences: whole ? 1 : config.parallel,
    batch: whole ? context : CHAT_BATCH,
    threads,
    device: backendOf(config.device),
    env: { ...deviceEnv(config.device), ...config.env },
    startLimitMs: Math.min(LONGEST_START_MS, START_BASE_MS + Math.ceil(model.sizeBytes / BYTES_PER_MS)),
    degraded: degradedBy(config, context),
    dialect: dialect(model.id),
  };
  return { ...launch, how: how(launch, queueLimit) };
}

function objection(config: SlotConfig): string | null {
  if (!(backendOf(config.device) in BACKENDS)) {
    return `device: engine embedded runs on auto, cpu, vulkan:N or cuda:N, not on ${config.device}`;
  }
  return config.extraArgs.length > 0 ? 'extra_args: engine embedded takes no arguments' : null;
}

/** llama.cpp inside a worker process of ours: the default engine, with nothing to install. */
export const embedded: Engine = {
  id: 'embedded',
  types: new Set(Object.keys(KINDS) as SlotTypeName[]),
  runners: new Set(['worker']),
  modelSource: () => 'registry',
  objection,
  plan,
  context: windowOf,
  checks,
};
