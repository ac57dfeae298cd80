import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import { slotNotFound } from '../contract/not-found.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import { NewProblems } from '../settings/problem.ts';
import type { MemoryUse } from './admission/memory-use.ts';
import type { AutoSlots } from './binding/auto-slots.ts';
import type { Swaps } from './binding/swaps.ts';
import type { SlotConfig } from './config/slot-config.ts';
import { inSlotsFolder, NO_FILES, type SlotFolder } from './config/slot-folder.ts';
import type { EngineRun } from './lifecycle/controller-deps.ts';
import type { SlotController } from './lifecycle/slot-controller.ts';
import { removedError } from './refusals.ts';
import { SharedEngines } from './sharing/shared-engines.ts';
import type { SlotView } from './slot-view.ts';

export interface SlotSetDeps {
  readonly log: Log;
  readonly bus: Pick<EventBus<GatewayEvents>, 'emit'>;
  readonly auto: AutoSlots;
  readonly swaps: Swaps;
  /** Reads the slot files. `before` is the previous result, null at the first time. */
  readFolder(before: SlotFolder | null): SlotFolder;
  createController(config: SlotConfig): SlotController;
  /** Returns the milliseconds that a slot whose file was deleted may drain. */
  drainMs(): number;
  /** Called once when a slot begins to use the running engine of another slot. */
  onJoined(guest: string, engine: Readonly<EngineRun>): void;
}

/**
 * The controllers of all slots: one for each slot of the files and models, and those of removed slots until their
 * engines have ended.
 */
export class SlotSet {
  readonly #deps: SlotSetDeps;
  readonly #controllers = new Map<string, SlotController>();
  /** The engines that slots with equal settings share. */
  readonly sharing: SharedEngines;
  /** Removed slots, until their engines have ended. */
  readonly #leaving = new Map<SlotController, Promise<void>>();
  /** The last emitted model id of each slot. */
  readonly #lastModelIds = new Map<string, string | null>();
  readonly #problems = new NewProblems();
  #folder: SlotFolder | null = null;
  #views: readonly SlotView[] | null = null;
  #stopped = false;

  constructor(deps: SlotSetDeps) {
    this.#deps = deps;
    this.sharing = new SharedEngines({
      all: () => this.all(),
      onJoined: (slot, engine) => {
        const { slot: host, modelId: model } = engine.launch;
        deps.log.info({ slot, host, model }, 'slot uses the engine of another slot');
        deps.onJoined(slot, engine);
      },
    });
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

  /** Returns the controller of a slot. Throws 404 `slot.not_found`. */
  getOrThrow(name: string): SlotController {
    const controller = this.#controllers.get(name);
    if (controller === undefined) throw slotNotFound(name, [...this.#controllers.keys()]);
    return controller;
  }

  /** Returns the memory use of every slot that has an engine, including removed ones. */
  memoryUses(): MemoryUse[] {
    return [...this.#controllers.values(), ...this.#leaving.keys()]
      .map(({ memoryUse: use }) => use)
      .filter((use) => use !== null);
  }

  /** Returns whether an engine of this slot runs, including that of a removed slot. */
  isRunning(name: string): boolean {
    return this.memoryUses().some((use) => use.name === name);
  }

  /**
   * Returns whether a removed slot of this name still has an engine. Runners identify engines by the name of their
   * slot, so a second one of the same name would be confused with the first.
   */
  isLeaving(name: string): boolean {
    return [...this.#leaving.keys()].some((controller) => controller.config.name === name);
  }

  /** Reads the slot files again. The result applies from the next `reconcile` on. */
  read(): readonly SlotConfig[] {
    this.#folder = this.#deps.readFolder(this.#folder);
    this.#problems.log(this.#folder.problems.map(inSlotsFolder), (problem) =>
      this.#deps.log.warn({ ...problem }, 'slot file'),
    );
    return this.#folder.configs;
  }

  /** Reads the slot files again and applies them. */
  reload(): void {
    if (this.#stopped) return;
    this.read();
    this.reconcile();
  }

  /** Adds, changes and removes slots so that they match files, swaps and models. */
  reconcile(): void {
    if (this.#stopped) return;
    const { swaps, auto, drainMs } = this.#deps;
    const { configs: fileConfigs, broken } = this.folder;
    const files = swaps.apply(fileConfigs, (name) => this.#automatic(name));
    // An existing slot continues while its file is invalid; a new slot of the name would be a second slot of its
    // model.
    const reserved = [...broken].filter((name) => !this.#controllers.has(name));
    const configs = auto.configs({ configs: files, broken: new Set(reserved) });
    const wanted = new Set(configs.map((config) => config.name));
    for (const [name, controller] of this.#controllers) {
      if (wanted.has(name)) continue;
      this.#controllers.delete(name);
      this.sharing.keysChanged();
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
    this.sharing.unloadUnused();
  }

  /** Returns the settings of an existing slot without a file; undefined when its file was deleted. */
  #automatic(name: string): SlotConfig | undefined {
    const config = this.#controllers.get(name)?.config;
    return config?.auto ? config : undefined;
  }

  /**
   * Emits events for changed slots. A changed model id may affect the bindings, which are then reconciled once for
   * all slots.
   */
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

  /** Resolves when a removed slot has drained and its engine has ended. A slot that stays is unloaded. */
  async waitUntilDrained(name: string): Promise<void> {
    const closings = [...this.#leaving].filter(([controller]) => controller.config.name === name);
    const stays = this.#controllers.get(name);
    const unloaded = stays === undefined ? null : this.sharing.unload(stays);
    await Promise.all([unloaded, ...closings.map(([, left]) => left)]);
  }

  /** Starts the own engine of an existing slot without a caller. Resolves when the load has settled. Never rejects. */
  async loadOwn(name: string): Promise<void> {
    const controller = this.#controllers.get(name);
    if (controller !== undefined && !this.#stopped) await this.#logged(controller, controller.load('auto'));
  }

  /** Loads a slot without a caller, if it still exists. Resolves when the load has settled. Never rejects. */
  async load(controller: SlotController): Promise<void> {
    if (this.#stopped || this.#controllers.get(controller.config.name) !== controller) return;
    await this.#logged(controller, this.sharing.load(controller, 'auto'));
  }

  /**
   * Refuses all requests from now on, lets running ones end for `limitMs`, and resolves when every engine has
   * ended.
   */
  async stop(limitMs: number): Promise<void> {
    this.#stopped = true;
    await Promise.all([
      ...this.all().map((controller) => controller.close(limitMs)),
      ...this.#leaving.values(),
    ]);
  }

  /**
   * Closes a removed slot. Resolves when its engine has ended, and then retries a re-created slot of the same name.
   */
  async #closeRemoved(controller: SlotController, drainMs: number): Promise<void> {
    const { name } = controller.config;
    const guests = this.sharing.earlierGuestsOf(controller);
    await controller.close(drainMs, removedError(name)).finally(() => this.#leaving.delete(controller));
    this.sharing.ended(controller);
    this.#controllers.get(name)?.retry();
    this.loadAgain(guests);
  }

  #add(config: SlotConfig): void {
    const controller = this.#deps.createController(config);
    this.#controllers.set(config.name, controller);
    this.sharing.keysChanged();
    this.#views = null;
    if (config.enabled && config.autoload) void this.load(controller);
  }

  /** Loads slots whose engine was that of another slot and has ended. Waits for nothing. */
  loadAgain(guests: readonly SlotController[]): void {
    for (const guest of guests) void this.load(guest);
  }

  #logged(controller: SlotController, load: Promise<void>): Promise<void> {
    return load.catch((cause: unknown) => {
      const reason =
        cause instanceof GatewayError ? (cause.options.details?.reason ?? cause.message) : String(cause);
      this.#deps.log.warn({ slot: controller.config.name, reason }, 'slot is not loaded');
    });
  }

  /**
   * Applies new settings. An engine ends when another model was chosen automatically for its slot; changes of a
   * file apply at its next start. The engine of another slot is used no longer.
   */
  #change(controller: SlotController, config: SlotConfig): void {
    const before = controller.config.model;
    const key = controller.engineKey;
    const guests = this.sharing.earlierGuestsOf(controller);
    controller.configure(config);
    if (controller.engineKey !== key) this.sharing.leave(controller);
    const isOtherModel = this.#deps.auto.choseModelOf(config) && before !== config.model;
    if (isOtherModel || !config.enabled) void controller.unload().then(() => this.loadAgain(guests));
  }
}
