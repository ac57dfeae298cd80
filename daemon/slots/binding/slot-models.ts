import type { MountGuard } from '../../lib/fs/mount-guard.ts';
import type { Log } from '../../lib/log.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { ChosenModel } from '../config/slot-settings.ts';
import type { Engine, SlotModel } from '../engines/engine.ts';
import { engineOf } from '../engines/table.ts';
import type { SlotController } from '../lifecycle/slot-controller.ts';
import { servedModelId } from '../record.ts';
import { ModelFileCache } from './model-files.ts';
import { slotModel } from './slot-model.ts';
import type { Swaps } from './swaps.ts';

/** Returns which model a slot holds. When the registry fails, the slot has no model. */
export class SlotModels {
  readonly #resolveModel: (config: SlotConfig) => SlotModel | null;
  readonly #swaps: Swaps;
  readonly #log: Log;
  readonly #files: ModelFileCache;

  constructor(
    resolveModel: (config: SlotConfig) => SlotModel | null,
    swaps: Swaps,
    log: Log,
    mountGuard?: MountGuard,
  ) {
    this.#files = new ModelFileCache(mountGuard);
    this.#resolveModel = resolveModel;
    this.#swaps = swaps;
    this.#log = log;
  }

  /**
   * Returns the model that a slot would load: the swapped one, the one it names, or the one that a built-in slot
   * takes automatically.
   */
  of(config: SlotConfig): SlotModel | null {
    const swapped = this.#swaps.modelOf(config.name);
    if (swapped !== null) return this.modelNamed(config, swapped);
    return this.#try(config);
  }

  /** Returns the model that it would load, and the id of a temporary swap; null for none. */
  chosen(config: SlotConfig): ChosenModel {
    const model = this.of(config);
    const swapped = this.#swaps.modelOf(config.name);
    return { model: model?.id ?? null, swapped, sampling: model?.sampling ?? {} };
  }

  /**
   * Returns the model that a slot with this file holds: the one it names, otherwise the one that it runs or would
   * load. While it still runs another model than its file names it holds neither, so that each of them gets a slot
   * of its own.
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

  /**
   * Returns the model with this id for such a slot, whatever the slot itself would take. The lookup uses no slot
   * name.
   */
  modelNamed(config: SlotConfig, id: string): SlotModel | null {
    return this.#try({ ...config, name: '', model: id });
  }

  #try(config: SlotConfig): SlotModel | null {
    try {
      const source = (engineOf(config.engine) as Engine).modelSource(config);
      const at = (path: string) => this.#files.at(path);
      const find = (slot: SlotConfig) => slotModel(slot, source, (each) => this.#resolveModel(each), at);
      const model = find(config);
      if (model === null || config.draftModel === null) return model;
      const draft = find({ ...config, name: '', model: config.draftModel });
      return draft === null ? model : { ...model, draft };
    } catch (cause) {
      this.#log.error({ slot: config.name, err: cause }, 'the model of the slot could not be looked up');
      return null;
    }
  }
}
