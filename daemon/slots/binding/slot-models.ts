import type { Patience } from '../../lib/fs/mount-guard.ts';
import type { Log } from '../../lib/log.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { Engine, SlotModel } from '../engines/engine.ts';
import { engineOf } from '../engines/table.ts';
import type { SlotController } from '../lifecycle/slot-controller.ts';
import { servedModelId } from '../record.ts';
import { ModelFileCache } from './model-files.ts';
import { slotModel } from './slot-model.ts';
import type { Swaps } from './swaps.ts';

/** Which model a slot holds. A registry that fails costs the model alone. */
export class SlotModels {
  readonly #lookUp: (config: SlotConfig) => SlotModel | null;
  readonly #swaps: Swaps;
  readonly #log: Log;
  readonly #files: ModelFileCache;

  constructor(lookUp: (config: SlotConfig) => SlotModel | null, swaps: Swaps, log: Log, patience?: Patience) {
    this.#files = new ModelFileCache(patience);
    this.#lookUp = lookUp;
    this.#swaps = swaps;
    this.#log = log;
  }

  /** The model that a slot would load: what a swap gave it, what it names, what a built-in slot takes by itself. */
  of(config: SlotConfig): SlotModel | null {
    const swapped = this.#swaps.modelOf(config.name);
    if (swapped !== null) return this.modelNamed(config, swapped);
    return this.#try(config);
  }

  /** The id of the model that it would load, and that of a swap of this run; null where there is none. */
  chosenIds(config: SlotConfig): { model: string | null; swapped: string | null } {
    return { model: this.of(config)?.id ?? null, swapped: this.#swaps.modelOf(config.name) };
  }

  /**
   * What a slot with this file holds: the model it names, else the one that it runs or would load. While it still runs
   * another one than its file names it holds neither, so that both have a slot of their own to answer to.
   */
  heldModelId(
    config: SlotConfig,
    controller: Pick<SlotController, 'modelId' | 'current'> | undefined,
  ): string | null {
    const named = this.of(config)?.id ?? null;
    if (controller === undefined) return named;
    if (config.model === null) return controller.modelId;
    return [null, named].includes(servedModelId(controller.current, null)) ? named : null;
  }

  /** The model with this id for such a slot, whatever the slot itself would take: it is looked up for no slot by name. */
  modelNamed(config: SlotConfig, id: string): SlotModel | null {
    return this.#try({ ...config, name: '', model: id });
  }

  #try(config: SlotConfig): SlotModel | null {
    try {
      const source = (engineOf(config.engine) as Engine).modelSource(config);
      const at = (path: string) => this.#files.at(path);
      return slotModel(config, source, (slot) => this.#lookUp(slot), at);
    } catch (cause) {
      this.#log.error({ slot: config.name, err: cause }, 'the model of the slot could not be looked up');
      return null;
    }
  }
}
