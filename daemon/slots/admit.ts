import type { SlotTypeName } from '../contract/slots.ts';
import { memorySum, needOf } from './admission.ts';
import type { Engine, SlotModel } from './engines/engine.ts';
import { engineOf } from './engines/table.ts';
import type { Admitted, Current } from './owner-parts.ts';
import { scrubbed } from './reason.ts';
import { noMemoryError, noModelError } from './refusals.ts';
import type { SlotConfig } from './slot-file.ts';
import { threadBudget, threadShare } from './threads.ts';

/** What an admission looks at; every value is read anew each time. */
export interface AdmitPicture {
  /** The model that the slot would load. */
  readonly model: SlotModel | null;
  /** What the other slots run now. */
  readonly others: readonly Readonly<Current>[];
  /** Setting `cpuThreads`. */
  readonly cpuThreads: number;
  readonly cores: number;
  readonly queueMax: number;
  /** Bytes available for a load on that device (`auto`, `cpu`, `vulkan`, `cuda`). */
  memory(device: string): number;
  /** Memory of a process that no file backs, in bytes; null when unknown. */
  anonymousBytes(pid: number): number | null;
}

const TYPES: Readonly<Record<SlotTypeName, string>> = {
  llm: 'a chat model',
  embedding: 'an embedding model',
  rerank: 'a rerank model',
  stt: 'a transcription model',
  tts: 'a speech model',
  image: 'an image model',
};

/** Weights are mapped from their file: the kernel counts them as available although a running slot needs them. */
function reservedBy(current: Readonly<Current>, picture: AdmitPicture): number {
  const { pid } = current.running;
  const taken = pid === null ? 0 : (picture.anonymousBytes(pid) ?? 0);
  const open = Math.max(0, current.neededBytes - taken);
  if (current.loaded === null) return open;
  return current.loaded.device === 'cpu' ? Math.min(open, current.weightBytes) : 0;
}

const usesCpu = (current: Readonly<Current>): boolean =>
  current.launch.how.runner !== 'attach' && ['cpu', 'auto'].includes(current.loaded?.device ?? 'cpu');

/**
 * Decides on one load (spec "Slots", admission): the launch with its threads and window, and the memory set aside.
 * Throws 507 `slot.no_memory` with the sum, or `slot.failed` for a slot that has no fitting model. Pure.
 */
export function admit(config: SlotConfig, picture: AdmitPicture): Admitted {
  const { model, others } = picture;
  const engine = engineOf(config.engine) as Engine;
  if (model === null) throw noModelError(config.name, missing(config));
  if (model.type !== config.type) {
    const reason = `${model.id} is ${TYPES[model.type]}; the slot serves ${TYPES[config.type]}.`;
    throw noModelError(config.name, reason);
  }
  const threads = threadShare({
    budget: threadBudget(picture.cpuThreads, picture.cores),
    taken: others.filter(usesCpu).map((other) => other.launch.threads),
    tiny: model.demo,
  });
  const launch = engine.plan({ config, model, threads, queueLimit: picture.queueMax });
  const size = {
    kvBytesPerToken: null,
    embedding: null,
    measuredBytes: null,
    ...model,
  };
  // What an attached server takes is not this machine's to plan, or is gone from it already.
  const neededBytes = launch.how.runner === 'attach' ? 0 : needOf(size, launch).total;
  const reserved = others.reduce((sum, other) => sum + reservedBy(other, picture), 0);
  const sum = memorySum(neededBytes, picture.memory(launch.device), reserved);
  if (neededBytes > 0 && sum.short > 0) throw noMemoryError(config.name, sum);
  return { launch, neededBytes, weightBytes: model.sizeBytes };
}

const missing = (config: SlotConfig): string =>
  config.model === null
    ? 'The slot has no model.'
    : scrubbed(`The model ${config.model} of the slot file was not found.`);
