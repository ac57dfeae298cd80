import type { SlotRecord } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { automaticSlot } from '../config/slot-file.ts';
import type { SlotFolder } from '../config/slot-folder.ts';
import { llamaServer as IMAGE_ENGINE } from '../engines/llama-server.ts';
import { defaultRunnerOf, engineFor, engineOf, slotObjection } from '../engines/table.ts';
import { AUTO_MODEL_SLOTS, type BindableModel, bindModels } from './bindings.ts';
import { bindingsText, mergeBindings, readBindings, type TextStore } from './stored-bindings.ts';

export interface AutoSlotsDeps {
  /** Returns all usable models. */
  models(): readonly BindableModel[];
  /** Returns the ids of models that are unavailable now and may come back. */
  absentModels(): readonly string[];
  /** Returns whether a program is installed; default no. */
  hasProgram?(name: string): boolean;
  /** Stores the bindings across restarts; without it they are computed again at each start. */
  readonly store: TextStore | undefined;
  /** Returns the id of the model that a slot with this file holds; null when it has none. */
  modelHeldBy(config: SlotConfig): string | null;
}

/**
 * Returns whether a slot takes a model automatically. Only for engines that use the model registry; others have
 * their own models.
 */
const fillsItself = (config: SlotConfig): boolean =>
  config.enabled &&
  config.model === null &&
  AUTO_MODEL_SLOTS[config.name] === config.type &&
  engineOf(config.engine)?.modelSource(config) === 'registry';

/**
 * Completes the slots of the files: chooses models for the slots that take one automatically, and adds the
 * automatic slots.
 */
export class AutoSlots {
  readonly #deps: AutoSlotsDeps;
  #bindings: Map<string, string>;
  #generated = new Map<string, SlotConfig>();
  /** Slots of files whose engine was changed for their model. */
  readonly #imageSlots = new Map<string, SlotConfig>();
  /** Ids of models that were loaded, and of those that could not be loaded, in this run. */
  readonly #loaded = new Set<string>();
  readonly #failed = new Set<string>();

  constructor(deps: AutoSlotsDeps) {
    this.#deps = deps;
    this.#bindings = readBindings(deps.store?.get() ?? null);
  }

  /** Returns whether the model of these settings was chosen here, not by a file. */
  choseModelOf(config: SlotConfig): boolean {
    return this.#generated.get(config.name) === config;
  }

  /** Records the state of a slot. Returns whether another model may take its name. */
  recordState({ model, state, failure }: Pick<SlotRecord, 'model' | 'state' | 'failure'>): boolean {
    if (model === null) return false;
    if (state === 'ready' || state === 'serving') {
      this.#loaded.add(model);
      this.#failed.delete(model);
      return false;
    }
    // A model that was loaded once may have failed for lack of memory.
    if (state !== 'error' || failure === null || this.#loaded.has(model) || this.#failed.has(model))
      return false;
    this.#failed.add(model);
    return true;
  }

  /** Forgets the state of a model that was changed or removed. */
  forgetModel(id: string): void {
    this.#loaded.delete(id);
    this.#failed.delete(id);
  }

  /** Returns all slots that should exist. Unchanged settings are the same object as before. */
  configs(folder: Pick<SlotFolder, 'configs' | 'broken'>): SlotConfig[] {
    const files = new Map(folder.configs.map((config) => [config.name, config]));
    const models = this.#deps.models();
    const bound = this.#bind(folder, models);
    const generated = new Map<string, SlotConfig>();
    for (const model of models) {
      const { id, type, format } = model;
      const name = bound.get(id);
      if (name === undefined) continue;
      const file = files.get(name);
      const config =
        file === undefined
          ? automaticSlot(name, type, id, this.#engineOf(model))
          : { ...file, model: id, engine: engineServing(file, format) };
      const before = this.#generated.get(name);
      generated.set(name, before !== undefined && isSame(before, config) ? before : config);
    }
    this.#generated = generated;
    const readers = new Set(models.filter((model) => this.#readsImages(model)).map(({ id }) => id));
    const others = folder.configs.filter(({ name }) => !generated.has(name));
    return [...others.map((config) => this.#withImageEngine(config, readers)), ...generated.values()];
  }

  /** Returns whether a model reads images here: it has a projector, and the program that loads one is installed. */
  #readsImages({ type, projectorPath = null }: BindableModel): boolean {
    return type === 'llm' && projectorPath !== null && this.#deps.hasProgram?.(IMAGE_ENGINE.id) === true;
  }

  #engineOf(model: BindableModel): string {
    return this.#readsImages(model) ? IMAGE_ENGINE.id : engineFor(model.type, model.format);
  }

  /**
   * Gives a slot whose file names neither engine nor runner (slot `agent` without a file) the engine that reads images
   * when its model does.
   */
  #withImageEngine(config: SlotConfig, readers: ReadonlySet<string>): SlotConfig {
    if (readers.size === 0 || config.type !== 'llm' || !config.enabled || !choosesEngine(config))
      return config;
    if (!readers.has(this.#deps.modelHeldBy(config) ?? '')) return config;
    const changed: SlotConfig = {
      ...config,
      engine: IMAGE_ENGINE.id,
      runner: defaultRunnerOf(IMAGE_ENGINE.id),
    };
    if (slotObjection(changed) !== null) return config;
    const before = this.#imageSlots.get(config.name);
    const same = before !== undefined && isSame(before, changed) ? before : changed;
    this.#imageSlots.set(config.name, same);
    return same;
  }

  #bind({ configs, broken }: Pick<SlotFolder, 'configs' | 'broken'>, models: readonly BindableModel[]) {
    const { modelHeldBy, store, absentModels } = this.#deps;
    const idsOf = (some: readonly SlotConfig[]) =>
      new Set(some.map(modelHeldBy).filter((id): id is string => id !== null));
    const open = configs.filter(fillsItself);
    const bound = bindModels({
      models,
      names: new Set([...configs.map(({ name }) => name), ...broken]),
      autoModelSlots: new Set(open.map(({ name }) => name)),
      modelsInFiles: idsOf(configs.filter(({ model }) => model !== null)),
      heldModels: idsOf(
        configs.filter((config) => config.enabled && config.model === null && !open.includes(config)),
      ),
      previous: this.#bindings,
      failed: this.#failed,
    });
    const swapped = configs.filter(({ auto }) => auto);
    const next = mergeBindings(bound, this.#bindings, {
      models: new Set([...absentModels(), ...idsOf(swapped)]),
      slots: new Set(swapped.map(({ name }) => name)),
    });
    const text = bindingsText(next);
    if (text !== bindingsText(this.#bindings)) store?.set(text);
    this.#bindings = next;
    return bound;
  }
}

/**
 * Returns the engine that serves the format. A speech program needs its own engine, also where a file only
 * completes the slot.
 */
const engineServing = ({ engine, type }: SlotConfig, format: string | undefined): string =>
  engine === engineFor(type) ? engineFor(type, format) : engine;

/** Returns whether the engine is open: `speculation` and experts are for the engine that the file has in mind. */
const choosesEngine = ({ engine, type, fileKeys }: SlotConfig): boolean =>
  engine === engineFor(type) && !fileKeys.some((key) => key === 'engine' || key === 'runner');

const isSame = (a: SlotConfig, b: SlotConfig): boolean => JSON.stringify(a) === JSON.stringify(b);
