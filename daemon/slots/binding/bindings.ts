import type { SlotTypeName } from '../../contract/slots.ts';
import { slotNameFor } from '../config/slot-name.ts';

/** A registered model as a slot may take it. */
export interface BindableModel {
  readonly id: string;
  readonly type: SlotTypeName;
  /** What its files are: `gguf`, `onnx`, `program`; `flm` for what the NPU backend keeps. */
  readonly format?: string;
  /** Unix seconds. */
  readonly created: number;
}

/** Slots that take a model of their type by themselves. */
export const SELF_FILLING: Readonly<Record<string, SlotTypeName>> = {
  embed: 'embedding',
  rerank: 'rerank',
  tts: 'tts',
  stt: 'stt',
};

/** What the slots and models are at one moment. */
export interface BindingPicture {
  readonly models: readonly BindableModel[];
  /** Names of slots with a file, or built in. */
  readonly names: ReadonlySet<string>;
  /** Those of them that take a model by themselves: self-filling ones whose file names none. */
  readonly open: ReadonlySet<string>;
  /** Ids of models that a slot file names. */
  readonly named: ReadonlySet<string>;
  /** Ids of models that a slot holds without naming them (slot `agent`). */
  readonly shown: ReadonlySet<string>;
  /** Model id → slot name, as it was before. */
  readonly kept: ReadonlyMap<string, string>;
}

/** Automatic slots that one gateway may hold: more than the models that a scan finds, since each of them must answer to its id. */
export const MOST_BINDINGS = 4096;

const oldestFirst = (a: BindableModel, b: BindableModel) => a.created - b.created || (a.id < b.id ? -1 : 1);

/**
 * Returns which model belongs to which slot when no file says so, model id → slot name
 * (docs/spec/contract.md#auto-slots). A binding stays as long as its model exists and no file names it, so
 * that a vector store meets the model that filled it. Slots `embed`, `rerank`, `tts` and `stt` take the
 * oldest fitting model. Every other model that no slot holds has a slot of its own, whose name is never the
 * id of another model.
 */
export function bindModels(picture: BindingPicture): Map<string, string> {
  const { models, names, open, named, shown, kept } = picture;
  const free = models.filter(({ id }) => !named.has(id)).sort(oldestFirst);
  const ids = new Set(models.map(({ id }) => id));
  const bound = new Map<string, string>();
  const held = new Set<string>();
  const usable = (name: string, id: string) =>
    !held.has(name) && (!names.has(name) || open.has(name)) && (name === id || !ids.has(name));
  // A slot file was written for another engine: its device, window and arguments mean nothing to the NPU.
  const completes = (name: string, { id, format }: BindableModel) =>
    usable(name, id) && !(format === 'flm' && names.has(name));
  const bind = (id: string, name: string) => {
    if (bound.size >= MOST_BINDINGS) return;
    bound.set(id, name);
    held.add(name);
  };
  for (const model of free) {
    const { id, type } = model;
    const name = kept.get(id);
    if (name !== undefined && completes(name, model) && (SELF_FILLING[name] ?? type) === type) bind(id, name);
  }
  for (const [name, type] of Object.entries(SELF_FILLING)) {
    const first = free.find((model) => model.type === type && completes(name, model));
    if (first !== undefined) bind(first.id, name);
  }
  for (const { id } of free) {
    if (bound.has(id) || shown.has(id)) continue;
    bind(
      id,
      slotNameFor(id, (name) => !usable(name, id)),
    );
  }
  return bound;
}
