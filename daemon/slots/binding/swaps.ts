import type { SlotConfig } from '../config/slot-config.ts';

interface Swap {
  readonly model: string;
  /** What the slot file names while the swap holds. */
  readonly fileModel: string | null;
  /** What an automatic slot holds once the swap is over. */
  readonly automaticModel: string | null;
}

/**
 * The models that slots were given by a swap: they hold for this run, above the slot file, until the file names another
 * model than it did then.
 */
export class Swaps {
  readonly #swaps = new Map<string, Swap>();
  readonly #configs = new WeakMap<SlotConfig, SlotConfig>();

  /** `beside` is what the slot file names from now on, `own` what an automatic slot held before. */
  set(slot: string, model: string, fileModel: string | null, automaticModel: string | null = null): void {
    this.#swaps.set(slot, {
      model,
      fileModel,
      automaticModel: this.automaticModelOf(slot) ?? automaticModel,
    });
  }

  /** The automatic slot got a file that names its own model: no change of mind, so the swap goes on above it. */
  keepAboveNewFile(slot: string): void {
    const swap = this.#swaps.get(slot);
    if (swap !== undefined) this.#swaps.set(slot, { ...swap, fileModel: swap.automaticModel });
  }

  /** The model that an automatic slot held before its swaps; null without one. */
  automaticModelOf(slot: string): string | null {
    return this.#swaps.get(slot)?.automaticModel ?? null;
  }

  /** The model that a slot was given; null when it was given none. */
  modelOf(slot: string): string | null {
    return this.#swaps.get(slot)?.model ?? null;
  }

  /**
   * The settings of files with the swapped models in them; unchanged settings are the same object as before. Slots that have
   * no file come from `without`. A swap whose file has changed its mind, or whose slot is gone, is forgotten.
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
