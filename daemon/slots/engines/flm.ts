import type { SlotConfig } from '../config/slot-file.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, processSpec } from './common.ts';
import type { Engine, Launch, LaunchParams } from './engine.ts';
import type { Probe } from './run-spec.ts';

/** It has no health of its own; its list of installed models answers once it listens. */
const PROBE: Probe = { path: '/v1/models', loading: [503], contains: '"data"' };
const DEFAULT_CONTEXT = 8192;
const START_LIMIT_MS = 300_000;

/**
 * The NPU takes one process: chat, transcription and embedding share it. The tag of the chat model is what only one slot
 * can have, because a request for another tag would make the server change models.
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

/** The process that all its slots share: the NPU takes one. */
const SHARED = 'flm';

function plan(params: LaunchParams): Launch {
  const { config, model } = params;
  const common = commonLaunch(params, { nativeRerank: false, model: model.id });
  const context = config.type === 'llm' ? (config.context ?? DEFAULT_CONTEXT) : 0;
  if (config.runner === 'attach') return { ...common, context, how: attachSpec(config, PROBE) };
  const how = processSpec(config, {
    command: 'flm',
    args: argsOf(params),
    key: { by: 'none' },
    probe: PROBE,
    install: 'Install FastFlowLM and its driver (flm validate tells what is missing).',
    shared: { name: SHARED, claim: config.type === 'llm' ? model.id : null },
  });
  return { ...common, context, device: 'npu', startLimitMs: START_LIMIT_MS, how };
}

function objection(config: SlotConfig): string | null {
  if (config.model === null) {
    return 'model: engine flm needs the tag of a model, such as "llama3.2:1b", "whisper-v3:turbo" or "embed-gemma:300m"';
  }
  if (['auto', 'npu'].includes(config.device)) return null;
  return `device: engine flm runs on npu, not on ${config.device}`;
}

/** FastFlowLM on the NPU of AMD. It knows no keys and answers every process of this machine. */
export const flm: Engine = {
  id: 'flm',
  types: new Set(['llm', 'embedding', 'stt']),
  runners: new Set(['process', 'attach']),
  shared: SHARED,
  modelSource: () => 'name',
  objection,
  plan,
  context: (config) => config.context ?? DEFAULT_CONTEXT,
  checks: (launch) => checksOf(launch, { health: null, models: launch.type === 'llm' }),
  textOnly: true,
};
