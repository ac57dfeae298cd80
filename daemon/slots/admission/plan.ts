import type { PlanSourceName, SlotPlanView } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { Launch, SlotModel } from '../engines/engine.ts';
import { BUILT_IN_SLOTS } from '../lifecycle/slot.ts';
import type { Forecast } from './controller.ts';

/** What a plan was made from. */
export interface PlanFacts {
  readonly config: SlotConfig;
  readonly model: SlotModel;
  /** The model was named by the request, not by the slot. */
  readonly asked: boolean;
  /** Setting `cpuThreads`; 0 leaves it to the probe. */
  readonly cpuThreads: number;
}

type Origin = (facts: PlanFacts, launch: Launch) => PlanSourceName;

const fromFile =
  (key: string): Origin =>
  ({ config }) =>
    config.fileKeys.includes(key) ? 'file' : 'default';

/** What an automatic slot has from the model that it was made for. */
const fromModel =
  (key: string): Origin =>
  (facts, launch) =>
    facts.config.auto ? 'model' : fromFile(key)(facts, launch);

const OF_MODEL: Origin = (facts, launch) => (facts.asked ? 'request' : fromModel('model')(facts, launch));

/** A built-in slot is there without a file, an automatic one has none. */
const OF_SLOT: Origin = ({ config }) => {
  if (config.auto) return 'model';
  return config.fileKeys.length === 0 && BUILT_IN_SLOTS.includes(config.name) ? 'default' : 'file';
};

/** Where the values of a launch come from; what is not listed is the engine's own. */
const ORIGINS: Readonly<Record<string, Origin>> = {
  slot: OF_SLOT,
  engine: fromModel('engine'),
  type: fromModel('type'),
  modelId: OF_MODEL,
  modelPath: () => 'model',
  demo: () => 'model',
  context: ({ config, model }, { context }) => {
    if (config.context !== null && context === config.context) return 'file';
    return context === model.contextTrain ? 'model' : 'default';
  },
  parallel: fromFile('parallel'),
  threads: ({ cpuThreads, model }) => (model.demo ? 'engine' : cpuThreads > 0 ? 'setting' : 'probe'),
  device: (facts, launch) =>
    facts.config.device === 'auto' && launch.demo && launch.device === 'cpu'
      ? 'engine'
      : fromFile('device')(facts, launch),
  batch: ({ config }) => (config.fileKeys.includes('batch') ? 'file' : 'engine'),
  env: fromFile('env'),
};

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The value with every `env` in it as the names of its variables only: a value may be a secret. */
function shown(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (key === 'env') return Object.keys(value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(name, inner)]));
}

/** The plan of a load as an administrator sees it: the exact launch with where each value comes from, and the sum. */
export function planView(facts: PlanFacts, { order, view }: Forecast): SlotPlanView {
  const { config, model } = facts;
  const { launch, need } = order;
  const rows = Object.entries(launch).map(([key, value]) => [
    snake(key),
    { value: shown(key, value), from: ORIGINS[key]?.(facts, launch) ?? 'engine' },
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
