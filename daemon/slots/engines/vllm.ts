import type { SlotConfig } from '../config/slot-config.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, containerSpec, fileOrName, processSpec } from './common.ts';
import type { Check, Engine, EngineMemory, Launch, LaunchParams, MemoryParams } from './engine.ts';
import { GIB, MIB, optionNumber, optionValue, weightsByName } from './program-memory.ts';
import type { KeyDelivery, Probe } from './run-spec.ts';
import { backendOf } from './visible-devices.ts';

const PROBE: Probe = { path: '/health', loading: [503] };
const KEY: KeyDelivery = { by: 'env', name: 'VLLM_API_KEY' };
/** It compiles kernels at its start and may download the model by its name. */
const START_LIMIT_MS = 1_800_000;
/** Its processes exchange tensors through shared memory. */
const SHM_BYTES = 8 * 1024 ** 3;
const DEVICES = ['auto', 'cpu', 'cuda', 'rocm'];

/** Without a window in the slot file, the model's own is used. */
function argsOf({ config, model }: LaunchParams): string[] {
  const window = config.context === null ? [] : ['--max-model-len', String(config.context)];
  return [
    model.path === null ? model.id : '{model}',
    ...['--served-model-name', model.id, '--host', '{host}', '--port', '{port}'],
    ...['--max-num-seqs', String(config.parallel)],
    ...window,
  ];
}

/** The variable with the whole GiB of the cache for contexts on a CPU, and the value when the slot file sets none. */
const CPU_CACHE = 'VLLM_CPU_KVCACHE_SPACE';
const CPU_CACHE_GIB = 4;
/** Bytes of its three processes on a CPU, without weights and cache. */
const CPU_ENGINE_BYTES = 2200 * MIB;
/** Share of a card that vLLM takes unless an option sets another. */
const CARD_SHARE = 0.92;
/** The options that set the size of its cache. */
const SIZE_OPTIONS = ['--kv-cache-memory-bytes', '--gpu-memory-utilization', '--memory-utilization'];
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, K: 1024, M: MIB, G: GIB };

/** Returns the bytes of the cache that `--kv-cache-memory-bytes` sets, as vLLM reads them (`8G` = 8 GiB); null without. */
function cacheOption(config: SlotConfig): number | null {
  const [, amount, unit = ''] =
    /^(\d+(?:\.\d+)?)([kmgKMG]?)$/.exec(optionValue(config, ['--kv-cache-memory-bytes']) ?? '') ?? [];
  return amount === undefined ? null : Math.round(Number(amount) * (UNITS[unit] ?? 1));
}

function cpuCacheBytes({ env }: SlotConfig): number {
  const set = Number(env[CPU_CACHE] ?? CPU_CACHE_GIB);
  return (Number.isFinite(set) && set > 0 ? set : CPU_CACHE_GIB) * GIB;
}

/**
 * Returns the variable with the size of the cache on a CPU, unless an option sets the size, which it would override.
 * Without both, vLLM takes its share of the whole memory of the machine. A card does not read the variable.
 */
const cacheEnv = (config: SlotConfig): Readonly<Record<string, string>> =>
  SIZE_OPTIONS.some((name) => optionValue(config, [name]) !== null)
    ? {}
    : { [CPU_CACHE]: String(CPU_CACHE_GIB) };

/** Returns the bytes of the weights per card: by the files, otherwise by the size in the name. */
function weightBytes({ config, model, onCard }: MemoryParams): number {
  const files = model.sizeBytes > 0 ? model.sizeBytes : (weightsByName(model.id) ?? 8 * GIB);
  const parts = onCard ? (optionNumber(config, ['--tensor-parallel-size', '-tp']) ?? 1) : 1;
  return Math.ceil(files / parts);
}

/**
 * On a CPU: its processes, the weights and the cache. On a card: its share of the whole card, or the parts when the size
 * of the cache is set (docs/internals/program-memory.md).
 */
function memory(params: MemoryParams): EngineMemory {
  const { config, onCard } = params;
  const cache = cacheOption(config);
  const weights = weightBytes(params);
  if (!onCard)
    return { engine: CPU_ENGINE_BYTES, weights, window: cache ?? cpuCacheBytes(config), compute: 0 };
  const share = optionNumber(config, ['--gpu-memory-utilization']) ?? CARD_SHARE;
  return {
    engine: 700 * MIB,
    weights,
    window: cache ?? GIB,
    compute: GIB,
    ...(cache === null && { cardShare: Math.min(1, share) }),
    host: 4 * GIB,
  };
}

function plan(params: LaunchParams): Launch {
  const { config, model } = params;
  const dialect = {
    nativeRerank: true,
    streamUsage: true as const,
    model: model.id,
    countPath: '/tokenize',
    continuesOnRequest: true as const,
  };
  const common = commonLaunch(params, dialect);
  if (config.runner === 'attach') return { ...common, how: attachSpec(config, PROBE) };
  const env = { ...cacheEnv(config), ...common.env };
  const launch = { ...common, env, startLimitMs: START_LIMIT_MS };
  const start = { key: KEY, probe: PROBE };
  if (config.runner === 'container') {
    const image = launch.device === 'rocm' ? 'rocm/vllm:latest' : 'vllm/vllm-openai:latest';
    const args = argsOf(params);
    const how = containerSpec(config, model.path, {
      ...start,
      image,
      args,
      port: 8000,
      shmBytes: SHM_BYTES,
    });
    return { ...launch, how };
  }
  const install =
    'Install vLLM (pip install vllm in a separate virtual environment) and set command = ["/path/bin/vllm"].';
  const args = ['serve', ...argsOf(params)];
  return { ...launch, how: processSpec(config, { ...start, args, command: 'vllm', install }) };
}

/** Its health check succeeds while it sleeps, and requests then wait. Without its developer mode the route is absent. */
const AWAKE: Check = {
  name: 'awake',
  method: 'GET',
  path: '/is_sleeping',
  limitMs: 5_000,
  verdict: (status, body) =>
    status === 200 && /"is_sleeping"\s*:\s*true/.test(body)
      ? 'The vLLM is in sleep mode: POST /wake_up wakes it up'
      : null,
};

function objection(config: SlotConfig): string | null {
  if (config.model === null) return 'model: engine vllm needs the name or the folder of a model';
  if (DEVICES.includes(backendOf(config.device))) return null;
  return `device: engine vllm runs on auto, cpu, cuda:N or rocm:N, not on ${config.device}`;
}

/** vLLM: models by their hub name or as a folder of safetensors, mostly on NVIDIA and AMD GPUs. */
export const vllm: Engine = {
  id: 'vllm',
  types: new Set(['llm', 'embedding', 'rerank']),
  runners: new Set(['process', 'container', 'attach']),
  modelSource: fileOrName,
  hasScore: true,
  objection,
  plan,
  context: (config) => config.context ?? 0,
  memory,
  checks: (launch) => [AWAKE, ...checksOf(launch, { health: '/health', models: true })],
};
