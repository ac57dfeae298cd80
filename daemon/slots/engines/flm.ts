import type { SlotConfig } from '../config/slot-config.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, processSpec } from './common.ts';
import type { Engine, EngineMemory, Launch, LaunchParams, MemoryParams } from './engine.ts';
import { GIB, MIB, weightsByName } from './program-memory.ts';
import type { Probe } from './run-spec.ts';

/** It has no health check; its list of installed models responds once it listens. */
const PROBE: Probe = { path: '/v1/models', loading: [503], contains: '"data"' };
const DEFAULT_CONTEXT = 8192;
const START_LIMIT_MS = 300_000;

/**
 * The NPU runs one process, shared by chat, transcription and embedding. Only one slot can set the tag of the chat
 * model, because a request for another tag would make the server switch models.
 */
function argsOf({ config, model }: LaunchParams): string[] {
  const chat = config.type === 'llm';
  const window = chat ? ['--ctx-len', String(config.context ?? DEFAULT_CONTEXT)] : [];
  return [
    ...['serve', ...(chat ? [model.id] : [])],
    ...['--host', '{host}', '--port', '{port}'],
    ...window,
    ...['--asr', '1', '--embed', '1', '--quiet'],
  ];
}

/** The process that all its slots share, because the NPU runs one only. */
const SHARED = 'flm';

function plan(params: LaunchParams): Launch {
  const { config, model } = params;
  const common = commonLaunch(params, { nativeRerank: false, model: model.id, streamUsage: true });
  const context = config.type === 'llm' ? (config.context ?? DEFAULT_CONTEXT) : 0;
  if (config.runner === 'attach') return { ...common, context, how: attachSpec(config, PROBE) };
  const how = processSpec(config, {
    command: 'flm',
    args: argsOf(params),
    key: { by: 'none' },
    probe: PROBE,
    install: 'Install FastFlowLM and its driver (flm validate shows what is missing).',
    shared: { name: SHARED, claim: config.type === 'llm' ? model.id : null },
  });
  return { ...common, context, device: 'npu', startLimitMs: START_LIMIT_MS, how };
}

/** Bytes of one parameter: four bits, scales, and the tables of tokens. */
const BYTES_PER_PARAMETER = 0.75;

/** The other slots use the process of the chat slot. */
const memory = ({ config, model }: MemoryParams): EngineMemory => ({
  engine: 300 * MIB,
  weights: weightsByName(model.id, BYTES_PER_PARAMETER) ?? GIB,
  window: config.type === 'llm' ? GIB / 4 : 0,
  compute: 0,
});

function objection(config: SlotConfig): string | null {
  if (config.model === null) {
    return 'model: engine flm needs the tag of a model, such as "llama3.2:1b", "whisper-v3:turbo" or "embed-gemma:300m"';
  }
  if (['auto', 'npu'].includes(config.device)) return null;
  return `device: engine flm runs on npu, not on ${config.device}`;
}

/** FastFlowLM on AMD NPUs. It has no keys and serves every process of this machine. */
export const flm: Engine = {
  id: 'flm',
  types: new Set(['llm', 'embedding', 'stt']),
  runners: new Set(['process', 'attach']),
  shared: SHARED,
  modelSource: () => 'name',
  objection,
  plan,
  context: (config) => config.context ?? DEFAULT_CONTEXT,
  memory,
  checks: (launch) => checksOf(launch, { health: null, models: launch.type === 'llm' }),
  textOnly: true,
};
