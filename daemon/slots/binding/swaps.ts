import type { SlotConfig } from '../config/slot-config.ts';

interface Swap {
  readonly model: string;
  /** The model that the slot file names while the swap applies. */
  readonly fileModel: string | null;
  /** The model of an automatic slot when the swap ends. */
  readonly automaticModel: string | null;
}

/**
 * The temporary swaps of models. A swap lasts until the gateway stops or the slot file names another model than it
 * did at the swap.
 */
export class Swaps {
  readonly #swaps = new Map<string, Swap>();
  readonly #configs = new WeakMap<SlotConfig, SlotConfig>();

  /**
   * `fileModel` is the model that the slot file names from now on, `automaticModel` the one that an automatic slot
   * held before.
   */
  set(slot: string, model: string, fileModel: string | null, automaticModel: string | null = null): void {
    this.#swaps.set(slot, {
      model,
      fileModel,
      automaticModel: this.automaticModelOf(slot) ?? automaticModel,
    });
  }

  /** Keeps a swap when the automatic slot gets a file that names its own model. */
  keepAboveNewFile(slot: string): void {
    const swap = this.#swaps.get(slot);
    if (swap !== undefined) this.#swaps.set(slot, { ...swap, fileModel: swap.automaticModel });
  }

  /** Returns the model that an automatic slot held before its swaps; null without a swap. */
  automaticModelOf(slot: string): string | null {
    return this.#swaps.get(slot)?.automaticModel ?? null;
  }

  /** Returns the swapped model of a slot; null without a swap. */
  modelOf(slot: string): string | null {
    return this.#swaps.get(slot)?.model ?? null;
  }

  /**
   * Returns the settings of the files with the swapped models applied. Unchanged settings are the same object as
   * before. Slots without a file come from `without`. Drops swaps whose file has changed or whose slot no longer
   * exists.
   */
  apply(files: readonly SlotConfig[], without: (slot: string) => SlotConfig | undefined): SlotConfig[] {
    const named = new Set(files.map(({ name }) => name));
    for (const [slot, { fileModel }] of this.#swaps) {
      const file = files.find(({ name }) => name === slot);
      if (file === undefined ? without(slot) === undefined : file.model !== fileModel)
        this.#swaps.delete(slot);
    }
    const withoutFile = [...this.#swaps.keys()].filter((slot) => !named.has(slot)).map(without);
    return [...files, ...withoutFile.filter((config) => config !== undefined)].map((config) =>
      this.#with(config),
    );
  }

  #with(config: SlotConfig): SlotConfig {
    const model = this.modelOf(config.name);
    if (model === null || config.model === model) return config;
    const cached = this.#configs.get(config);
    if (cached?.model === model) return cached;
    const swapped = { ...config, model };
    this.#configs.set(config, swapped);
    return swapped;
  }
}
