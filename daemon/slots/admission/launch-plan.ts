import type { SlotTypeName } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { Engine, Launch, SlotModel } from '../engines/engine.ts';
import { engineOf } from '../engines/table.ts';
import type { Current } from '../lifecycle/controller-deps.ts';
import { scrubbed } from '../lifecycle/failure-reason.ts';
import { noModelError } from '../refusals.ts';
import { type Need, needOf } from './memory-estimate.ts';
import { threadBudget, threadShare } from './threads.ts';

/** Memory that one load may draw from. */
export interface Room {
  /** Id of the pool. */
  readonly pool: string;
  /** Bytes available in it now. */
  readonly free: number;
  /** What is known of it is too old, or nothing yet, and is being read: a load waits for that. */
  readonly reading?: true;
  /** `free` is as old as the last look at the graphics that share the pool, as that of a card always is. */
  readonly aged?: true;
  /** A card that does not tell what is free: `free` is all of it, what slots hold there included. */
  readonly untold?: true;
  /** The card that was chosen among several, as device words (`cuda:1`, `vulkan:1`), one for each backend that may run there. */
  readonly card?: readonly string[];
  /** The further cards that the load could be told to run on, roomiest first. */
  readonly others?: readonly Room[];
}

/** Bytes of each pool that are planned for others and not taken yet. */
export type Beside = ReadonlyMap<string, number>;

/** What a launch is planned on; every value is read anew each time. */
export interface OrderPicture {
  /** The model that the slot would load. */
  readonly model: SlotModel | null;
  /** What the other slots run now. */
  readonly others: readonly Readonly<Current>[];
  /** Setting `cpuThreads`. */
  readonly cpuThreads: number;
  readonly cores: number;
  readonly queueMax: number;
  /** The memory that a load of so many bytes draws from on a device (`auto`, `cpu`, `vulkan:N`, `cuda:N`). */
  room(device: string, needed: number): Room;
  /** Bytes that this launch took in this pool on this machine before; null when it never ran here. */
  measured(launch: Launch, pool: string, sizeBytes: number): number | null;
}

/** A load as it is asked for: what would run, and what it needs where. */
export interface Order {
  readonly launch: Launch;
  readonly need: Need;
  readonly room: Room;
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

const usesCpu = (current: Readonly<Current>): boolean =>
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
export function orderLoad(config: SlotConfig, picture: OrderPicture): Order {
  const { model, others } = picture;
  const engine = engineOf(config.engine) as Engine;
  if (model === null) throw noModelError(config.name, missing(config));
  const objection = typeObjection(config, model);
  if (objection !== null) throw noModelError(config.name, objection);
  const threads = threadShare({
    budget: threadBudget(picture.cpuThreads, picture.cores),
    taken: others.filter(usesCpu).map((other) => other.launch.threads),
    tiny: model.demo,
  });
  const order = { config, model, threads, queueLimit: picture.queueMax };
  const launch = engine.plan(order);
  const { room, need } = needIn(picture, config, model, launch);
  const placed = room.card === undefined ? launch : engine.plan({ ...order, card: room.card });
  return { launch: placed, need, room, weightBytes: model.sizeBytes };
}

const NOTHING: Need = { weights: 0, window: 0, compute: 0, engine: 0, total: 0, source: 'estimated' };

/** The device whose memory a launch takes: an engine may have one way only, and a container without a GPU sees none. */
function placeOf({ device }: SlotConfig, { device: runsOn, how }: Launch): string {
  const blind = how.runner === 'container' && how.devices.length === 0;
  return blind || runsOn === 'cpu' || runsOn === 'npu' ? 'cpu' : device;
}

/** Which pool it is may depend on the need, and what was measured depends on the pool. */
function needIn(picture: OrderPicture, config: SlotConfig, model: SlotModel, launch: Launch) {
  // What an attached server takes is not this machine's to plan, or is gone from it already.
  if (launch.how.runner === 'attach') return { room: picture.room('cpu', 0), need: NOTHING };
  const sizeBytes = model.sizeBytes + (launch.projectorBytes ?? 0);
  const size = { kvBytesPerToken: null, embedding: null, ...model, sizeBytes, measuredBytes: null };
  const guess = needOf(size, launch);
  const room = picture.room(placeOf(config, launch), guess.total);
  const measuredBytes = picture.measured(launch, room.pool, model.sizeBytes);
  return { room, need: needOf({ ...size, measuredBytes }, launch) };
}

const missing = (config: SlotConfig): string =>
  config.model === null
    ? 'The slot has no model.'
    : scrubbed(`The model ${config.model} of the slot file was not found.`);
