import type { SlotTypeName } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { Engine, Launch, SlotModel } from '../engines/engine.ts';
import { engineOf } from '../engines/table.ts';
import type { EngineRun } from '../lifecycle/controller-deps.ts';
import { scrubPaths } from '../lifecycle/failure-reason.ts';
import { noModelError } from '../refusals.ts';
import { type Need, needOf } from './memory-estimate.ts';
import { threadBudget, threadShare } from './threads.ts';

/** Memory that one load may draw from. */
export interface MemoryHeadroom {
  /** Id of the pool. */
  readonly pool: string;
  /** Bytes available in it now. */
  readonly free: number;
  /** What is known of it is too old, or nothing yet, and is being read: a load waits for that. */
  readonly refreshing?: true;
  /** `free` is as old as the last look at the graphics that share the pool, as that of a card always is. */
  readonly stale?: true;
  /** A card that does not tell what is free: `free` is all of it, what slots hold there included. */
  readonly unknown?: true;
  /** The card that was chosen among several, as device words (`cuda:1`, `vulkan:1`), one for each backend that may run there. */
  readonly card?: readonly string[];
  /** The further cards that the load could be told to run on, roomiest first. */
  readonly alternatives?: readonly MemoryHeadroom[];
}

/** Bytes of each pool that are planned for others and not taken yet. */
export type PlannedReservations = ReadonlyMap<string, number>;

/** What a launch is planned on; every value is read anew each time. */
export interface LaunchPlanInput {
  /** The model that the slot would load. */
  readonly model: SlotModel | null;
  /** What the other slots run now. */
  readonly others: readonly Readonly<EngineRun>[];
  /** Setting `cpuThreads`. */
  readonly cpuThreads: number;
  readonly cores: number;
  readonly queueMax: number;
  /** The memory that a load of so many bytes draws from on a device (`auto`, `cpu`, `vulkan:N`, `cuda:N`). */
  headroom(device: string, needed: number): MemoryHeadroom;
  /** Bytes that this launch took in this pool on this machine before; null when it never ran here. */
  measured(launch: Launch, pool: string, sizeBytes: number): number | null;
}

/** A load as it is asked for: what would run, and what it needs where. */
export interface LaunchPlan {
  readonly launch: Launch;
  readonly need: Need;
  readonly headroom: MemoryHeadroom;
  /** The part that is mapped from the model's file. */
  readonly weightBytes: number;
}

const TYPES: Readonly<Record<SlotTypeName, string>> = {
  llm: 'a chat model',
  embedding: 'an embedding model',
  rerank: 'a rerank model',
  stt: 'a transcription model',
  tts: 'a speech model',
  image: 'an image model',
};

const usesCpu = (current: Readonly<EngineRun>): boolean =>
  current.launch.how.runner !== 'attach' && ['cpu', 'auto'].includes(current.loaded?.device ?? 'cpu');

/** Why a slot cannot serve a model, in one line; null when it can. */
export function typeObjection(config: SlotConfig, model: Pick<SlotModel, 'id' | 'type'>): string | null {
  if (model.type === config.type) return null;
  return `${model.id} is ${TYPES[model.type]}; the slot serves ${TYPES[config.type]}.`;
}

/**
 * Returns the launch of one load with its threads and window, and the memory it needs
 * (docs/spec/contract.md#admission). Throws `slot.failed` for a slot without a fitting model. Pure.
 */
export function planLoad(config: SlotConfig, input: LaunchPlanInput): LaunchPlan {
  const { model, others } = input;
  const engine = engineOf(config.engine) as Engine;
  if (model === null) throw noModelError(config.name, missing(config));
  const objection = typeObjection(config, model);
  if (objection !== null) throw noModelError(config.name, objection);
  const threads = threadShare({
    budget: threadBudget(input.cpuThreads, input.cores),
    inUse: others.filter(usesCpu).map((other) => other.launch.threads),
    isDemo: model.demo,
  });
  const params = { config, model, threads, queueLimit: input.queueMax };
  const launch = engine.plan(params);
  const { headroom, need } = headroomAndNeed(input, config, model, launch);
  const placed = headroom.card === undefined ? launch : engine.plan({ ...params, card: headroom.card });
  return { launch: placed, need, headroom, weightBytes: model.sizeBytes };
}

const NO_NEED: Need = { weights: 0, window: 0, compute: 0, engine: 0, total: 0, source: 'estimated' };

/** The device whose memory a launch takes: an engine may have one way only, and a container without a GPU sees none. */
function memoryDeviceOf({ device }: SlotConfig, { device: runsOn, how }: Launch): string {
  const blind = how.runner === 'container' && how.devices.length === 0;
  return blind || runsOn === 'cpu' || runsOn === 'npu' ? 'cpu' : device;
}

/** Which pool it is may depend on the need, and what was measured depends on the pool. */
function headroomAndNeed(input: LaunchPlanInput, config: SlotConfig, model: SlotModel, launch: Launch) {
  // What an attached server takes is not this machine's to plan, or is gone from it already.
  if (launch.how.runner === 'attach') return { headroom: input.headroom('cpu', 0), need: NO_NEED };
  const sizeBytes = model.sizeBytes + (launch.projectorBytes ?? 0);
  const size = { kvBytesPerToken: null, embedding: null, ...model, sizeBytes, measuredBytes: null };
  const guess = needOf(size, launch);
  const headroom = input.headroom(memoryDeviceOf(config, launch), guess.total);
  const measuredBytes = input.measured(launch, headroom.pool, model.sizeBytes);
  return { headroom, need: needOf({ ...size, measuredBytes }, launch) };
}

const missing = (config: SlotConfig): string =>
  config.model === null
    ? 'The slot has no model.'
    : scrubPaths(`The model ${config.model} of the slot file was not found.`);
