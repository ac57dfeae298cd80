import { automaticSlot, type SlotConfig } from '../config/slot-file.ts';
import type { SlotFolder } from '../config/slot-folder.ts';
import { engineFor, engineOf } from '../engines/table.ts';
import { type BindableModel, bindModels, SELF_FILLING } from './bindings.ts';
import { bindingsText, bindingsToKeep, type KeptText, readBindings } from './stored-bindings.ts';

export interface AutoSlotsOptions {
  /** Every usable model. */
  models(): readonly BindableModel[];
  /** Ids of models that may come back. */
  outOfSight(): readonly string[];
  /** Where the bindings outlive the gateway; without, they are made anew at each start. */
  readonly kept: KeptText | undefined;
  /** The id of the model that a slot with this file holds; null when it has none. */
  held(config: SlotConfig): string | null;
}

/** Only for an engine that finds its models here: another one has its own. */
const takesByItself = (config: SlotConfig): boolean =>
  config.enabled &&
  config.model === null &&
  SELF_FILLING[config.name] === config.type &&
  engineOf(config.engine)?.modelSource(config) === 'registry';

/** Completes the slots of the files: with the models that some take by themselves, and with the automatic slots. */
export class AutoSlots {
  readonly #options: AutoSlotsOptions;
  #kept: Map<string, string>;
  #made = new Map<string, SlotConfig>();

  constructor(options: AutoSlotsOptions) {
    this.#options = options;
    this.#kept = readBindings(options.kept?.get() ?? null);
  }

  /** Whether the model of these settings was chosen here, not by a file. */
  chose(config: SlotConfig): boolean {
    return this.#made.get(config.name) === config;
  }

  /** All slots that there should be; settings that have not changed are the same object as before. */
  configs(folder: Pick<SlotFolder, 'configs' | 'broken'>): SlotConfig[] {
    const files = new Map(folder.configs.map((config) => [config.name, config]));
    const models = this.#options.models();
    const bound = this.#bind(folder, models);
    const made = new Map<string, SlotConfig>();
    for (const { id, type, format } of models) {
      const name = bound.get(id);
      if (name === undefined) continue;
      const file = files.get(name);
      const config =
        file === undefined
          ? automaticSlot(name, type, id, engineFor(type, format))
          : { ...file, model: id, engine: servedBy(file, format) };
      const before = this.#made.get(name);
      made.set(name, before !== undefined && same(before, config) ? before : config);
    }
    this.#made = made;
    return [...folder.configs.filter(({ name }) => !made.has(name)), ...made.values()];
  }

  #bind({ configs, broken }: Pick<SlotFolder, 'configs' | 'broken'>, models: readonly BindableModel[]) {
    const { held, kept, outOfSight } = this.#options;
    const idsOf = (some: readonly SlotConfig[]) =>
      new Set(some.map(held).filter((id): id is string => id !== null));
    const open = configs.filter(takesByItself);
    const bound = bindModels({
      models,
      names: new Set([...configs.map(({ name }) => name), ...broken]),
      open: new Set(open.map(({ name }) => name)),
      named: idsOf(configs.filter(({ model }) => model !== null)),
      shown: idsOf(
        configs.filter((config) => config.enabled && config.model === null && !open.includes(config)),
      ),
      kept: this.#kept,
    });
    const swapped = configs.filter(({ auto }) => auto);
    const next = bindingsToKeep(bound, this.#kept, {
      models: new Set([...outOfSight(), ...idsOf(swapped)]),
      slots: new Set(swapped.map(({ name }) => name)),
    });
    const text = bindingsText(next);
    if (text !== bindingsText(this.#kept)) kept?.set(text);
    this.#kept = next;
    return bound;
  }
}

/** The speaking program needs the engine that runs it, also where a file only completes the slot. */
const servedBy = ({ engine, type }: SlotConfig, format: string | undefined): string =>
  engine === engineFor(type) ? engineFor(type, format) : engine;

const same = (a: SlotConfig, b: SlotConfig): boolean => JSON.stringify(a) === JSON.stringify(b);
