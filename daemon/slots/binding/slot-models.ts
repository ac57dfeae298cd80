import type { Patience } from '../../lib/fs/mount-guard.ts';
import type { Log } from '../../lib/log.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { Engine, SlotModel } from '../engines/engine.ts';
import { engineOf } from '../engines/table.ts';
import type { Owner } from '../lifecycle/slot-controller.ts';
import { answersTo } from '../record.ts';
import { ModelPlaces } from './model-files.ts';
import { slotModel } from './slot-model.ts';
import type { Swaps } from './swaps.ts';

/** Which model a slot holds. A registry that fails costs the model alone. */
export class SlotModels {
  readonly #lookUp: (config: SlotConfig) => SlotModel | null;
  readonly #swaps: Swaps;
  readonly #log: Log;
  readonly #places: ModelPlaces;

  constructor(lookUp: (config: SlotConfig) => SlotModel | null, swaps: Swaps, log: Log, patience?: Patience) {
    this.#places = new ModelPlaces(patience);
    this.#lookUp = lookUp;
    this.#swaps = swaps;
    this.#log = log;
  }

  /** The model that a slot would load: what a swap gave it, what it names, what a built-in slot takes by itself. */
  of(config: SlotConfig): SlotModel | null {
    const swapped = this.#swaps.modelOf(config.name);
    if (swapped !== null) return this.named(config, swapped);
    return this.#try(config);
  }

  /** The id of the model that it would load, and that of a swap of this run; null where there is none. */
  chosen(config: SlotConfig): { model: string | null; swapped: string | null } {
    return { model: this.of(config)?.id ?? null, swapped: this.#swaps.modelOf(config.name) };
  }

  /**
   * What a slot with this file holds: the model it names, else the one that it runs or would load. While it still runs
   * another one than its file names it holds neither, so that both have a slot of their own to answer to.
   */
  held(config: SlotConfig, owner: Pick<Owner, 'modelId' | 'current'> | undefined): string | null {
    const named = this.of(config)?.id ?? null;
    if (owner === undefined) return named;
    if (config.model === null) return owner.modelId;
    return [null, named].includes(answersTo(owner.current, null)) ? named : null;
  }

  /** The model with this id for such a slot, whatever the slot itself would take: it is looked up for no slot by name. */
  named(config: SlotConfig, id: string): SlotModel | null {
    return this.#try({ ...config, name: '', model: id });
  }

  #try(config: SlotConfig): SlotModel | null {
    try {
      const source = (engineOf(config.engine) as Engine).modelSource(config);
      const at = (path: string) => this.#places.at(path);
      return slotModel(config, source, (asked) => this.#lookUp(asked), at);
    } catch (cause) {
      this.#log.error({ slot: config.name, err: cause }, 'the model of the slot could not be looked up');
      return null;
    }
  }
}
