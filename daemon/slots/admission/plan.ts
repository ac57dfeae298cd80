import type { PlanSourceName, SlotPlanView } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { Launch, SlotModel } from '../engines/engine.ts';
import { BUILT_IN_SLOTS } from '../lifecycle/slot.ts';
import type { Forecast } from './controller.ts';

/** The input of a plan view. */
export interface PlanInput {
  readonly config: SlotConfig;
  readonly model: SlotModel;
  /** Whether the request named the model, not the slot. */
  readonly isModelRequested: boolean;
  /** Setting `cpuThreads`; 0 means that the number of physical cores decides. */
  readonly cpuThreads: number;
}

type Origin = (input: PlanInput, launch: Launch) => PlanSourceName;

const fromFile =
  (key: string): Origin =>
  ({ config }) =>
    config.fileKeys.includes(key) ? 'file' : 'default';

/** Values that an automatic slot takes from its model. */
const fromModel =
  (key: string): Origin =>
  (input, launch) =>
    input.config.auto ? 'model' : fromFile(key)(input, launch);

const MODEL_ORIGIN: Origin = (input, launch) =>
  input.isModelRequested ? 'request' : fromModel('model')(input, launch);

/** A built-in slot exists without a file, and an automatic slot never has one. */
const SLOT_ORIGIN: Origin = ({ config }) => {
  if (config.auto) return 'model';
  return config.fileKeys.length === 0 && BUILT_IN_SLOTS.includes(config.name) ? 'default' : 'file';
};

/** The origin of each value of a launch. Keys that are not listed come from the engine. */
const ORIGINS: Readonly<Record<string, Origin>> = {
  slot: SLOT_ORIGIN,
  engine: fromModel('engine'),
  type: fromModel('type'),
  modelId: MODEL_ORIGIN,
  modelPath: () => 'model',
  demo: () => 'model',
  context: ({ config, model }, { context }) => {
    if (config.context !== null && context === config.context) return 'file';
    return context === model.contextTrain ? 'model' : 'default';
  },
  parallel: fromFile('parallel'),
  threads: ({ cpuThreads, model }) => (model.demo ? 'engine' : cpuThreads > 0 ? 'setting' : 'probe'),
  device: (input, launch) =>
    input.config.device === 'auto' && launch.demo && launch.device === 'cpu'
      ? 'engine'
      : fromFile('device')(input, launch),
  batch: ({ config }) => (config.fileKeys.includes('batch') ? 'file' : 'engine'),
  expertLayersOnCpu: ({ config }) =>
    config.fileKeys.some((key) => key === 'cpu_moe' || key === 'n_cpu_moe') ? 'file' : 'probe',
  env: fromFile('env'),
};

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the value with every `env` reduced to the names of its variables, because a value may be a secret. */
function redactEnv(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (key === 'env') return Object.keys(value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redactEnv(name, inner)]));
}

/**
 * Returns the plan of a load for administrators: the exact launch, the origin of each value, and the memory sum.
 */
export function planView(input: PlanInput, { plan, view }: Forecast): SlotPlanView {
  const { config, model } = input;
  const { launch, need } = plan;
  const rows = Object.entries(launch).map(([key, value]) => [
    snake(key),
    { value: redactEnv(key, value), from: ORIGINS[key]?.(input, launch) ?? 'engine' },
  ]);
  return {
    slot: config.name,
    engine: config.engine,
    runner: config.runner,
    model: model.id,
    launch: Object.fromEntries(rows),
    need,
    forecast: view,
  };
}
