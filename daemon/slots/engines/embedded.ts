import type { SlotConfig } from '../slot-file.ts';
import type { Check, Engine, Launch, LaunchOrder, SlotModel } from './engine.ts';

/** Window in tokens when neither slot nor model asks for less. */
const DEFAULT_CONTEXT = 8192;
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

function plan({ config, model, threads, queueLimit }: LaunchOrder): Launch {
  const context = windowOf(config, model);
  return {
    slot: config.name,
    modelId: model.id,
    modelPath: model.path,
    demo: model.demo,
    context,
    parallel: config.parallel,
    threads,
    device: backendOf(config.device),
    queueLimit,
    env: { ...deviceEnv(config.device), ...config.env },
    startLimitMs: Math.min(LONGEST_START_MS, START_BASE_MS + Math.ceil(model.sizeBytes / BYTES_PER_MS)),
    degraded: degradedBy(config, context),
  };
}

function objection(config: SlotConfig): string | null {
  if (!(backendOf(config.device) in BACKENDS)) {
    return `device: engine embedded runs on auto, cpu, vulkan:N or cuda:N, not on ${config.device}`;
  }
  return config.extraArgs.length > 0 ? 'extra_args: engine embedded takes no arguments' : null;
}

function parsed(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function listed(body: string): unknown[] {
  const { data } = parsed(body);
  return Array.isArray(data) ? data.map((entry: { id?: unknown } | null) => entry?.id) : [];
}

const answered = (what: string, status: number): string => `${what} answered with status ${status}`;

function checks(launch: Launch): readonly Check[] {
  return [
    {
      name: 'health',
      method: 'GET',
      path: '/health',
      limitMs: 5_000,
      verdict: (status) => (status === 200 ? null : answered('The health check', status)),
    },
    {
      name: 'models',
      method: 'GET',
      path: '/v1/models',
      limitMs: 5_000,
      verdict: (status, body) => {
        if (status !== 200) return answered('The model list', status);
        return listed(body).includes(launch.modelId) ? null : 'The model list does not hold the model';
      },
    },
    {
      name: 'completion',
      method: 'POST',
      path: '/v1/chat/completions',
      body: {
        model: launch.modelId,
        messages: [{ role: 'user', content: 'Hi' }],
        max_tokens: 1,
        temperature: 0,
      },
      limitMs: 120_000,
      verdict: (status, body) => {
        if (status !== 200) return answered('The trial completion', status);
        return Array.isArray(parsed(body).choices) ? null : 'The trial completion holds no choice';
      },
    },
  ];
}

/** llama.cpp inside a worker process of ours: the default engine, with nothing to install. */
export const embedded: Engine = {
  id: 'embedded',
  types: new Set(['llm']),
  runners: new Set(['worker']),
  objection,
  plan,
  context: windowOf,
  checks,
};
