import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { Bus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import { cutTo } from '../lib/text/truncate.ts';
import type { MemoryUse } from './admission/memory-use.ts';
import type { AutoSlots } from './binding/auto-slots.ts';
import type { Swaps } from './binding/swaps.ts';
import type { SlotConfig } from './config/slot-config.ts';
import { inSlotsFolder, NO_FILES, type SlotFolder } from './config/slot-folder.ts';
import type { SlotController } from './lifecycle/slot-controller.ts';
import { removedError } from './refusals.ts';
import type { SlotView } from './slot-view.ts';

export interface SlotSetDeps {
  readonly log: Log;
  readonly bus: Pick<Bus<GatewayEvents>, 'emit'>;
  readonly auto: AutoSlots;
  readonly swaps: Swaps;
  /** What the files say; `before` is what they said last, null at the first look. */
  readFolder(before: SlotFolder | null): SlotFolder;
  createController(config: SlotConfig): SlotController;
  /** Milliseconds that a slot whose file is gone has to drain. */
  drainMs(): number;
}

/** The owners of all slots: one for each slot that files and models ask for, and those that are about to go. */
export class SlotSet {
  readonly #deps: SlotSetDeps;
  readonly #controllers = new Map<string, SlotController>();
  /** Slots whose file is gone, until their engines have ended. */
  readonly #leaving = new Map<SlotController, Promise<void>>();
  /** The id that each slot showed last. */
  readonly #lastModelIds = new Map<string, string | null>();
  #folder: SlotFolder | null = null;
  #views: readonly SlotView[] | null = null;
  #stopped = false;

  constructor(deps: SlotSetDeps) {
    this.#deps = deps;
  }

  get folder(): SlotFolder {
    return this.#folder ?? NO_FILES;
  }

  all(): SlotController[] {
    return [...this.#controllers.values()];
  }

  views(): readonly SlotView[] {
    this.#views ??= this.all().map(({ view }) => view);
    return this.#views;
  }

  get(name: string): SlotController | undefined {
    return this.#controllers.get(name);
  }

  /** Throws 404 `slot.not_found`. */
  getOrThrow(name: string): SlotController {
    const controller = this.#controllers.get(name);
    if (controller === undefined)
      throw new GatewayError('slot.not_found', { details: { slot: cutTo(name, 64) } });
    return controller;
  }

  /** What every slot that has an engine holds, those that are about to go included. */
  memoryUses(): MemoryUse[] {
    return [...this.#controllers.values(), ...this.#leaving.keys()]
      .map(({ memoryUse: use }) => use)
      .filter((use) => use !== null);
  }

  /** Whether an engine of this slot is there, also one that is about to go. */
  isRunning(name: string): boolean {
    return this.memoryUses().some((use) => use.name === name);
  }

  /**
   * Whether a slot of this name is about to go. Runners know engines by the name of their slot: a second one of the same name
   * would be taken for the first.
   */
  isLeaving(name: string): boolean {
    return [...this.#leaving.keys()].some((controller) => controller.config.name === name);
  }

  /** Reads the slot files anew; what they say counts from the next `arrange` on. */
  read(): readonly SlotConfig[] {
    this.#folder = this.#deps.readFolder(this.#folder);
    for (const problem of this.#folder.problems) this.#deps.log.warn(inSlotsFolder(problem), 'slot file');
    return this.#folder.configs;
  }

  /** Reads the slot files anew and follows them. */
  reload(): void {
    if (this.#stopped) return;
    this.read();
    this.reconcile();
  }

  /** Makes the slots what files, swaps and models say: adds, changes and removes. */
  reconcile(): void {
    if (this.#stopped) return;
    const { swaps, auto, drainMs } = this.#deps;
    const { configs: fileConfigs, broken } = this.folder;
    const files = swaps.apply(fileConfigs, (name) => this.#automatic(name));
    // A slot that is there goes on without a file that says anything; another one would be a second slot of its model.
    const reserved = [...broken].filter((name) => !this.#controllers.has(name));
    const configs = auto.configs({ configs: files, broken: new Set(reserved) });
    const wanted = new Set(configs.map((config) => config.name));
    for (const [name, controller] of this.#controllers) {
      if (wanted.has(name)) continue;
      this.#controllers.delete(name);
      this.#views = null;
      this.#lastModelIds.delete(name);
      this.#deps.bus.emit('slot_removed', { name });
      this.#leaving.set(controller, this.#closeRemoved(controller, drainMs()));
    }
    for (const config of configs) {
      const controller = this.#controllers.get(config.name);
      if (controller === undefined) this.#add(config);
      else if (controller.config !== config) this.#change(controller, config);
    }
  }

  /** The settings of a slot that is there without a file; one whose file is gone is none. */
  #automatic(name: string): SlotConfig | undefined {
    const config = this.#controllers.get(name)?.config;
    return config?.auto ? config : undefined;
  }

  /** Tells of slots that have changed; another id may bind other models, which is looked at once for all of them. */
  emitChanges(names: readonly string[]): void {
    let hasNewModel = false;
    for (const name of names) {
      const controller = this.#controllers.get(name);
      if (controller === undefined) continue;
      this.#deps.bus.emit('slot', { slot: controller.record() });
      hasNewModel ||= this.#lastModelIds.get(name) !== controller.modelId;
      this.#lastModelIds.set(name, controller.modelId);
    }
    if (hasNewModel) this.reconcile();
  }

  /** Resolves when a slot whose file is gone has drained and its engine has ended; one that stays is unloaded. */
  async waitUntilDrained(name: string): Promise<void> {
    const closings = [...this.#leaving].filter(([controller]) => controller.config.name === name);
    await Promise.all([this.#controllers.get(name)?.unload(), ...closings.map(([, left]) => left)]);
  }

  /** Loads a slot for which nobody asks, if it is there; resolves when the load has an outcome. Never rejects. */
  async load(name: string): Promise<void> {
    const controller = this.#controllers.get(name);
    if (controller !== undefined && !this.#stopped) await this.#load(controller);
  }

  /** Refuses everything from now on and resolves when every engine has ended; running requests have `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#stopped = true;
    await Promise.all([
      ...this.all().map((controller) => controller.close(limitMs)),
      ...this.#leaving.values(),
    ]);
  }

  /** Resolves when the engine of a slot whose file is gone has ended; one that was made anew meanwhile waits for that. */
  async #closeRemoved(controller: SlotController, drainMs: number): Promise<void> {
    const { name } = controller.config;
    await controller.close(drainMs, removedError(name)).finally(() => this.#leaving.delete(controller));
    this.#controllers.get(name)?.retry();
  }

  #add(config: SlotConfig): void {
    const controller = this.#deps.createController(config);
    this.#controllers.set(config.name, controller);
    this.#views = null;
    if (config.enabled && config.autoload) void this.#load(controller);
  }

  #load(controller: SlotController): Promise<void> {
    return controller.load('auto').catch((cause: unknown) => {
      const reason =
        cause instanceof GatewayError ? (cause.options.details?.reason ?? cause.message) : String(cause);
      this.#deps.log.warn({ slot: controller.config.name, reason }, 'slot is not loaded');
    });
  }

  /** An engine whose model was chosen for it ends when another is chosen; what a file says waits for the next start. */
  #change(controller: SlotController, config: SlotConfig): void {
    const before = controller.config.model;
    controller.configure(config);
    if (this.#deps.auto.choseModelOf(config) && before !== config.model) void controller.unload();
  }
}
