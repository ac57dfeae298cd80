import { SlotType } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, containerSpec, fileOrName, processSpec } from './common.ts';
import type { Engine, Launch, LaunchParams } from './engine.ts';
import { GIB, MIB, programMemory } from './program-memory.ts';
import type { KeyDelivery, Probe } from './run-spec.ts';

const PROBE: Probe = { path: '/health', loading: [503] };
/** Its start time is unknown. */
const START_LIMIT_MS = 600_000;

/**
 * Returns how the key is delivered: by the variable that the slot file names, otherwise by a file if its arguments
 * contain `{key_file}`.
 */
function keyOf({ keyEnv, runner, command, extraArgs }: SlotConfig): KeyDelivery {
  if (keyEnv !== null) return { by: 'env', name: keyEnv };
  const words = runner === 'process' ? [...(command ?? []), ...extraArgs] : [];
  return words.some((word) => word.includes('{key_file}')) ? { by: 'file' } : { by: 'none' };
}

/** The variables of the slot file can replace arguments: `{port}` and `{model}` are filled in there too. */
function plan(params: LaunchParams): Launch {
  const { config, model } = params;
  // An external program decides itself whether it runs on one card or on all.
  const common = commonLaunch(
    { ...params, card: [] },
    { nativeRerank: true, model: model.id, streamUsage: true },
  );
  if (config.runner === 'attach') return { ...common, how: attachSpec(config, PROBE) };
  const launch = { ...common, env: {}, startLimitMs: START_LIMIT_MS };
  const start = { args: [], env: common.env, key: keyOf(config), probe: PROBE };
  if (config.runner === 'container') {
    return { ...launch, how: containerSpec(config, model.path, { ...start, image: '', port: 8080 }) };
  }
  return {
    ...launch,
    how: processSpec(config, { ...start, command: '', install: 'Install it, or mend command.' }),
  };
}

function objection(config: SlotConfig): string | null {
  if (config.runner === 'process' && config.command === null) {
    return 'command: engine custom needs a program and its arguments, such as ["prog", "--port", "{port}", "--model", "{model}"]';
  }
  if (config.runner === 'container' && config.image === null) return 'image: engine custom needs an image';
  return null;
}

/** Any server with an OpenAI-style API: a command of the slot file, an image, or an address. */
export const custom: Engine = {
  id: 'custom',
  types: new Set(SlotType.options),
  runners: new Set(['process', 'container', 'attach']),
  modelSource: fileOrName,
  objection,
  plan,
  context: (config) => config.context ?? 0,
  memory: programMemory({ engine: 512 * MIB, perByte: 1.2, unknown: GIB / 2 }),
  checks: (launch) => checksOf(launch, { health: null, models: false }),
};
