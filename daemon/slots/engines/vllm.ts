import type { SlotConfig } from '../config/slot-config.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, containerSpec, fileOrName, processSpec } from './common.ts';
import type { Engine, Launch, LaunchParams } from './engine.ts';
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

function plan(params: LaunchParams): Launch {
  const { config, model } = params;
  const dialect = {
    nativeRerank: true,
    model: model.id,
    countPath: '/tokenize',
    continuesOnRequest: true as const,
  };
  const common = commonLaunch(params, dialect);
  if (config.runner === 'attach') return { ...common, how: attachSpec(config, PROBE) };
  const launch = { ...common, startLimitMs: START_LIMIT_MS };
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
  objection,
  plan,
  context: (config) => config.context ?? 0,
  checks: (launch) => checksOf(launch, { health: '/health', models: true }),
};
