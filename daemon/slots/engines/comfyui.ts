import { CURATED, curatedModel, isWeightFile } from '../../models/images/curated.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, containerSpec, processSpec } from './common.ts';
import type { Engine, EngineMemory, Launch, LaunchParams, MemoryParams } from './engine.ts';
import { releasesMemory } from './keys.ts';
import { GIB, MIB } from './program-memory.ts';
import type { Probe, UnloadCall } from './run-spec.ts';

const PROBE: Probe = { path: '/system_stats', loading: [503], contains: '"system"' };
/** Unloads its models from the device. It loads them again at the next request of any client. */
const FREE: UnloadCall = { path: '/free', body: { unload_models: true, free_memory: true } };
const START_LIMIT_MS = 300_000;
/** It processes its own queue one graph at a time. */
const AT_ONCE = 1;

function plan(params: LaunchParams): Launch {
  const { config } = params;
  const common = { ...commonLaunch(params, { nativeRerank: false, model: null }), parallel: AT_ONCE };
  if (config.runner === 'attach') {
    const report = releasesMemory(config) ? ({ memoryReport: 'comfyui' } as const) : {};
    return { ...common, how: { ...attachSpec(config, PROBE, FREE), ...report } };
  }
  const launch = { ...common, startLimitMs: START_LIMIT_MS };
  const start = { key: { by: 'none' }, probe: PROBE } as const;
  if (config.runner === 'container') {
    const how = containerSpec(config, null, { ...start, image: '', args: [], port: 8188 });
    return { ...launch, how };
  }
  const cpu = config.device === 'cpu' ? ['--cpu'] : [];
  const how = processSpec(config, {
    ...start,
    command: 'comfyui',
    args: ['--listen', '{host}', '--port', '{port}', '--disable-auto-launch', ...cpu],
    install: 'Install ComfyUI and name it: command = ["/path/python", "/path/ComfyUI/main.py"].',
  });
  return { ...launch, how };
}

/** Bytes of the files that a model loads, in half precision, by the beginning of its name. */
const MODEL_BYTES: readonly (readonly [RegExp, number])[] = [
  [/^(sdxl|sd_xl)/i, 7 * GIB],
  [/^flux/i, 17 * GIB],
  [/^(qwen|z-image)/i, 20 * GIB],
];
/** Stable Diffusion 1.5. ComfyUI moves parts of larger models away when memory is short. */
const USUAL_MODEL_BYTES = 2 * GIB;

/** On the CPU it computes in single precision, so the weights take twice the size of their file. */
const memory = ({ config, onCard }: MemoryParams): EngineMemory => {
  const file =
    MODEL_BYTES.find(([name]) => name.test(config.imageSettings?.checkpoint ?? config.model ?? ''))?.[1] ??
    USUAL_MODEL_BYTES;
  return {
    engine: (onCard ? 400 : 820) * MIB,
    weights: onCard ? file : 2 * file,
    window: 0,
    compute: GIB,
    ...(onCard && { host: 2 * GIB }),
  };
};

const BUILT_IN = CURATED.map(({ id }) => id).join(', ');

/** Returns why the model of a slot file cannot be drawn; null when it can, or when the file names none. */
function modelObjection({ model, imageSettings }: SlotConfig): string | null {
  if (imageSettings !== null && (imageSettings.checkpoint ?? imageSettings.workflow) !== null) return null;
  if (model === null)
    return imageSettings === null
      ? null
      : 'checkpoint: set it, or model; the other keys of images apply to it';
  if (curatedModel(model) !== undefined || isWeightFile(model)) return null;
  return `model: is neither a built-in image model (${BUILT_IN}) nor a file name; set checkpoint = "FILE.safetensors"`;
}

function objection(config: SlotConfig): string | null {
  if (config.runner === 'process' && config.command === null) {
    return 'command: engine comfyui needs its program, such as ["/path/python", "/path/ComfyUI/main.py"]';
  }
  if (config.runner === 'container' && config.image === null) {
    return 'image: engine comfyui has no default image; set one';
  }
  return modelObjection(config);
}

/**
 * ComfyUI: graphs with image models in its own folders. It has no keys and serves every process of this machine.
 */
export const comfyui: Engine = {
  id: 'comfyui',
  types: new Set(['image']),
  runners: new Set(['attach', 'process', 'container']),
  modelSource: () => 'name',
  objection,
  plan,
  context: () => 0,
  memory,
  checks: (launch) => checksOf(launch, { health: '/system_stats', models: false }),
};
