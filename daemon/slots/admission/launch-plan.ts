import { isAbsolute } from 'node:path';
import type { SlotTypeName } from '../../contract/slots.ts';
import { unservedFormat } from '../../models/unusable-formats.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { embedded } from '../engines/embedded.ts';
import type { Engine, Launch, MemoryParams, SlotModel } from '../engines/engine.ts';
import { releasesMemory } from '../engines/keys.ts';
import { engineOf } from '../engines/table.ts';
import type { DeferredMemory, EngineRun } from '../lifecycle/controller-deps.ts';
import { scrubPaths } from '../lifecycle/failure-reason.ts';
import { queueLimitOf } from '../lifecycle/queue-limit.ts';
import { noModelError } from '../refusals.ts';
import { KEEP_FREE_BYTES } from './eviction.ts';
import {
  type ExpertPlacement,
  placesTensors,
  requestedPlacement,
  smallestPlacement,
} from './expert-placement.ts';
import { evaluationOf, type ModelSize, type Need, needOf, programNeed } from './memory-estimate.ts';
import { HOST_POOL, poolOf } from './memory-use.ts';
import { threadBudget, threadShare } from './threads.ts';

/** The memory that one load may take. */
export interface MemoryHeadroom {
  /** Id of the memory pool. */
  readonly pool: string;
  /** Bytes that are available in the pool now. */
  readonly free: number;
  /** The figures are stale or missing and are being read. The load waits for them. */
  readonly refreshing?: true;
  /**
   * `free` comes from the last probe of the GPU that shares the pool, so it may be some seconds old. For a
   * GPU with its own memory it is always set.
   */
  readonly stale?: true;
  /** The card does not report free memory: `free` is its total, including what slots hold there. */
  readonly unknown?: true;
  /**
   * The card chosen from several, as device words (`cuda:1`, `vulkan:1`), one for each backend that may run there.
   */
  readonly card?: readonly string[];
  /** The bytes of the whole card; absent when unknown and for the machine's memory. */
  readonly total?: number;
  /** The other cards on which the load could run, most free memory first. */
  readonly alternatives?: readonly MemoryHeadroom[];
}

/** Bytes of each pool that are planned for other loads and not taken yet. */
export type PlannedReservations = ReadonlyMap<string, number>;

/** The input of a launch plan. Every value is read at the time of the call. */
export interface LaunchPlanInput {
  /** The model that the slot would load. */
  readonly model: SlotModel | null;
  /** The engines that the other slots run now. */
  readonly others: readonly Readonly<EngineRun>[];
  /** Setting `cpuThreads`. */
  readonly cpuThreads: number;
  readonly cores: number;
  readonly queueMax: number;
  /**
   * Returns the memory that a load of `needed` bytes draws from on a device (`auto`, `cpu`, `vulkan:N`, `cuda:N`).
   */
  headroom(device: string, needed: number): MemoryHeadroom;
  /** The bytes that the attached server of the slot released when it was unloaded; default 0. */
  readonly releasedBytes?: number;
  /** Returns the bytes that this launch took in this pool before; null when it never ran on this machine. */
  measured(launch: Launch, pool: string, sizeBytes: number): number | null;
}

/** What a load would start, what it needs and from which pool. */
export interface LaunchPlan {
  readonly launch: Launch;
  readonly need: Need;
  readonly headroom: MemoryHeadroom;
  /** The size of the model, by which a measurement is recognised. */
  readonly weightBytes: number;
  /** See `AdmittedLoad`. */
  readonly deferred: DeferredMemory;
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

/** Returns why a slot cannot serve a model, in one line; null when it can. */
export function typeObjection(
  config: SlotConfig,
  model: Pick<SlotModel, 'id' | 'type' | 'format' | 'architecture' | 'unknownTypes'>,
): string | null {
  if (model.type !== config.type)
    return `${model.id} is ${TYPES[model.type]}; the slot serves ${TYPES[config.type]}.`;
  const { format } = model;
  if (config.engine !== embedded.id || format === undefined) return null;
  const unserved = unservedFormat({ ...model, format });
  return unserved === null ? null : `${model.id}: ${unserved.reason}. ${unserved.advice}`;
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
  const queueLimit = queueLimitOf(config.name, config.type, input.queueMax).requests;
  const params = { config, model, threads, queueLimit };
  const planned = engine.plan(params);
  const experts = expertsOnHost(input, config, planned);
  const expertLayers = experts === null || experts.layers === 0 ? {} : { expertLayersOnCpu: experts.layers };
  const launch = experts === null ? planned : engine.plan({ ...params, ...expertLayers });
  const { headroom, need } = headroomAndNeed(input, config, {
    model,
    launch,
    expertBytes: experts?.bytes ?? 0,
  });
  const placed =
    headroom.card === undefined ? launch : engine.plan({ ...params, ...expertLayers, card: headroom.card });
  const deferred = deferredMemory(engine, need, model.sizeBytes);
  return { launch: placed, need, headroom, weightBytes: model.sizeBytes, deferred };
}

/**
 * Returns what a running engine has not taken yet: of llama.cpp the mapped weights, of another program its cache for
 * contexts and its buffers.
 */
const deferredMemory = (engine: Engine, { window, compute }: Need, sizeBytes: number): DeferredMemory =>
  engine.memory === undefined
    ? { mappedBytes: sizeBytes, deferredBytes: sizeBytes }
    : { mappedBytes: 0, deferredBytes: window + compute };

const UNKNOWN_SIZE = { kvBytesPerToken: null, contextMemory: null, embedding: null } as const;

const NO_NEED: Need = {
  weights: 0,
  window: 0,
  compute: 0,
  engine: 0,
  host: 0,
  total: 0,
  source: 'estimated',
};

/**
 * Returns the device whose memory a launch takes. An engine may support the CPU only, and a container without a
 * device sees no GPU.
 */
function memoryDeviceOf({ device }: SlotConfig, { device: runsOn, how }: Launch): string {
  const blind = how.runner === 'container' && how.devices.length === 0;
  return blind || runsOn === 'cpu' || runsOn === 'npu' ? 'cpu' : device;
}

/** Returns the bytes of what is loaded beside the model: its projector and its draft model. */
const companionBytes = ({ projectorBytes = 0, draftBytes = 0 }: Omit<Launch, 'how'>): number =>
  projectorBytes + draftBytes;

/** Returns the sizes of a model with what is loaded beside it, without measurements. */
function sizeOf(model: SlotModel, companions: number): ModelSize {
  return {
    ...UNKNOWN_SIZE,
    ...model,
    sizeBytes: model.sizeBytes + companions,
    cardBytes: (model.cardBytes ?? model.sizeBytes) + companions,
    measuredBytes: null,
  };
}

/**
 * Returns the experts that stay on the host: those that the slot file requests, otherwise the fewest with which the
 * model fits a card that it does not fit whole. Null where experts cannot be placed (docs/spec/contract.md#experts-on-the-cpu).
 */
function expertsOnHost(input: LaunchPlanInput, config: SlotConfig, launch: Launch): ExpertPlacement | null {
  const { model } = input;
  const device = memoryDeviceOf(config, launch);
  const experts = model?.experts ?? null;
  const isPlaceable = launch.engine === 'llama-server' && launch.how.runner !== 'attach' && device !== 'cpu';
  if (model === null || experts === null || !isPlaceable || placesTensors(config)) return null;
  const requested = requestedPlacement(config, experts);
  if (requested !== null) return requested;
  const size = sizeOf(model, companionBytes(launch));
  const evaluation = evaluationOf(launch, true);
  const needed = needOf(size, evaluation).total;
  const card = input.headroom(device, needed - experts.bytes);
  if (card.pool === HOST_POOL) return null;
  return smallestPlacement(experts, {
    needed,
    cardBytes: cardCapacity(card, input.others),
    hostBytes: input.headroom('cpu', 0).free - KEEP_FREE_BYTES,
  });
}

/** Returns the bytes that a load may take of a card when no other slot is loaded there. */
function cardCapacity(
  { free, total, pool, unknown }: MemoryHeadroom,
  others: LaunchPlanInput['others'],
): number {
  const held = others
    .filter((other) => poolOf(other) === pool)
    .reduce((sum, { neededBytes }) => sum + neededBytes, 0);
  const available = unknown ? free : free + held;
  return Math.min(available, total ?? Number.POSITIVE_INFINITY) - KEEP_FREE_BYTES;
}

/**
 * Returns the memory that a launch draws from and what it needs. The pool is chosen by the estimate; a measurement
 * of that pool then replaces the estimate.
 */
function headroomAndNeed(
  input: LaunchPlanInput,
  config: SlotConfig,
  { model, launch, expertBytes }: { model: SlotModel; launch: Launch; expertBytes: number },
) {
  const { memoryBytes } = config;
  if (launch.how.runner === 'attach') return attachedNeed(input, config);
  const device = memoryDeviceOf(config, launch);
  const estimate = (measuredBytes: number | null, onCard: boolean, cardBytes: number | null) =>
    needBy({ config, model, onCard }, { launch, expertBytes, measuredBytes, cardBytes });
  const guess = estimate(null, device !== 'cpu', null);
  const headroom = input.headroom(device, memoryBytes ?? guess.total);
  const onCard = headroom.pool !== HOST_POOL;
  const measuredBytes = input.measured(launch, headroom.pool, model.sizeBytes);
  const need = estimate(measuredBytes, onCard, headroom.total ?? null);
  return {
    headroom,
    need: memoryBytes === null ? need : ({ ...need, total: memoryBytes, source: 'file' } as const),
  };
}

/**
 * Returns the need of a server that runs already. Its memory is not managed here, or is already missing from the free
 * memory, but for one that loads its model again after it was unloaded.
 */
function attachedNeed(input: LaunchPlanInput, config: SlotConfig) {
  const { memoryBytes } = config;
  if (!releasesMemory(config)) return { headroom: input.headroom('cpu', 0), need: NO_NEED };
  const total = memoryBytes ?? input.releasedBytes ?? 0;
  const source = memoryBytes === null ? (total > 0 ? 'measured' : 'estimated') : 'file';
  return { headroom: input.headroom(config.device, total), need: { ...NO_NEED, total, source } as const };
}

/** Returns what a launch needs: by the rule of its engine, otherwise as llama.cpp allocates it. */
function needBy(params: MemoryParams, { launch, expertBytes, measuredBytes, cardBytes }: NeedInput): Need {
  const rule = engineOf(launch.engine)?.memory;
  if (rule !== undefined) return programNeed(rule(params), { cardBytes, measuredBytes });
  const size = { ...sizeOf(params.model, companionBytes(launch)), measuredBytes };
  return needOf(size, { ...evaluationOf(launch, params.onCard), expertBytes });
}

interface NeedInput {
  readonly launch: Launch;
  readonly expertBytes: number;
  readonly measuredBytes: number | null;
  /** Bytes of the whole card; null when unknown and on the host. */
  readonly cardBytes: number | null;
}

const missing = (config: SlotConfig): string =>
  config.model === null
    ? 'The slot has no model.'
    : scrubPaths(`The model ${config.model} of the slot file was not found.${missingStep(config.model)}`);

/** Only models of the registry have a memory estimate, so a file must be registered first. */
const missingStep = (model: string): string =>
  isAbsolute(model)
    ? ' Register the file with svcctl models register, or add its folder to models.folders.'
    : ' svcctl models lists the models.';
