import type { SlotTypeName } from '../../contract/slots.ts';
import { slotNameFor } from '../config/slot-name.ts';

/** A registered model that a slot may take. */
export interface BindableModel {
  readonly id: string;
  readonly type: SlotTypeName;
  /** Format of its files: `gguf`, `onnx`, `program`; `flm` for models of the NPU backend. */
  readonly format?: string;
  /** Absolute path of the projector with which it reads images; null or absent without one. */
  readonly projectorPath?: string | null;
  /** Unix seconds. */
  readonly created: number;
}

/** Slots that automatically take a model of their type. */
export const AUTO_MODEL_SLOTS: Readonly<Record<string, SlotTypeName>> = {
  embed: 'embedding',
  rerank: 'rerank',
  tts: 'tts',
  stt: 'stt',
};

/**
 * Slots of AUTO_MODEL_SLOTS that another model may take over. No stored data depends on their model, as a vector store
 * does on that of `embed`.
 */
const REPLACEABLE_SLOTS: ReadonlySet<string> = new Set(['tts', 'stt']);

/** The slots and models at one moment. */
export interface BindingSnapshot {
  readonly models: readonly BindableModel[];
  /** Names of slots with a file, and of built-in slots. */
  readonly names: ReadonlySet<string>;
  /** Those of them that take a model automatically because their file names none. */
  readonly autoModelSlots: ReadonlySet<string>;
  /** Ids of models that a slot file names. */
  readonly modelsInFiles: ReadonlySet<string>;
  /** Ids of models that a slot holds although its file does not name them (slot `agent`). */
  readonly heldModels: ReadonlySet<string>;
  /** The previous bindings, model id → slot name. */
  readonly previous: ReadonlyMap<string, string>;
  /** Ids of models that could not be loaded and never were. */
  readonly failed: ReadonlySet<string>;
}

/**
 * Maximum number of automatic slots: more than the models that a scan finds, because each model must be reachable
 * by its id.
 */
export const MAX_BINDINGS = 4096;

const oldestFirst = (a: BindableModel, b: BindableModel) => a.created - b.created || (a.id < b.id ? -1 : 1);

/**
 * Returns which model belongs to which slot when no file says so, model id → slot name
 * (docs/spec/contract.md#auto-slots). A binding stays as long as its model exists and no file names it, so
 * that a vector store meets the model that filled it. Slots `embed`, `rerank`, `tts` and `stt` take the
 * oldest fitting model. A model that cannot be loaded gives `tts` and `stt` to another one. Every other model
 * that no slot holds has its own slot, whose name is never the id of another model.
 */
export function bindModels(snapshot: BindingSnapshot): Map<string, string> {
  const { models, names, autoModelSlots, modelsInFiles, heldModels, previous, failed } = snapshot;
  const free = models.filter(({ id }) => !modelsInFiles.has(id)).sort(oldestFirst);
  const ids = new Set(models.map(({ id }) => id));
  const bound = new Map<string, string>();
  const boundSlots = new Set<string>();
  const usable = (name: string, id: string) =>
    !boundSlots.has(name) &&
    (!names.has(name) || autoModelSlots.has(name)) &&
    (name === id || !ids.has(name));
  // A slot file was written for another engine: its device, window and arguments do not apply to the NPU.
  const completes = (name: string, { id, format }: BindableModel) =>
    usable(name, id) && !(format === 'flm' && names.has(name));
  const bind = (id: string, name: string) => {
    if (bound.size >= MAX_BINDINGS) return;
    bound.set(id, name);
    boundSlots.add(name);
  };
  const isReleasedFrom = (name: string, id: string) => REPLACEABLE_SLOTS.has(name) && failed.has(id);
  const isReleased = (name: string, { id, type }: BindableModel) =>
    isReleasedFrom(name, id) &&
    free.some((other) => other.type === type && !failed.has(other.id) && completes(name, other));
  for (const model of free) {
    const { id, type } = model;
    const name = previous.get(id);
    if (name === undefined || isReleased(name, model)) continue;
    if (completes(name, model) && (AUTO_MODEL_SLOTS[name] ?? type) === type) bind(id, name);
  }
  for (const [name, type] of Object.entries(AUTO_MODEL_SLOTS)) {
    const fitting = free.filter((model) => model.type === type && completes(name, model));
    const first = fitting.find(({ id }) => !isReleasedFrom(name, id)) ?? fitting[0];
    if (first !== undefined) bind(first.id, name);
  }
  for (const { id } of free) {
    if (bound.has(id) || heldModels.has(id)) continue;
    bind(
      id,
      slotNameFor(id, (name) => !usable(name, id)),
    );
  }
  return bound;
}
