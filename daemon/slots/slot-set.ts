import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { Bus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import { cutTo } from '../lib/text/truncate.ts';
import type { Holding } from './admission/memory-use.ts';
import type { AutoSlots } from './binding/auto-slots.ts';
import type { Swaps } from './binding/swaps.ts';
import type { SlotConfig } from './config/slot-file.ts';
import { inSlotsFolder, NO_FILES, type SlotFolder } from './config/slot-folder.ts';
import type { Owner } from './lifecycle/slot-controller.ts';
import { goneError } from './refusals.ts';
import type { SlotGlance } from './slot-view.ts';

export interface SlotSetParts {
  readonly log: Log;
  readonly bus: Pick<Bus<GatewayEvents>, 'emit'>;
  readonly auto: AutoSlots;
  readonly swaps: Swaps;
  /** What the files say; `before` is what they said last, null at the first look. */
  readFolder(before: SlotFolder | null): SlotFolder;
  makeOwner(config: SlotConfig): Owner;
  /** Milliseconds that a slot whose file is gone has to drain. */
  drainMs(): number;
}

/** The owners of all slots: one for each slot that files and models ask for, and those that are about to go. */
export class SlotSet {
  readonly #parts: SlotSetParts;
  readonly #owners = new Map<string, Owner>();
  /** Slots whose file is gone, until their engines have ended. */
  readonly #leaving = new Map<Owner, Promise<void>>();
  /** The id that each slot showed last. */
  readonly #shown = new Map<string, string | null>();
  #folder: SlotFolder | null = null;
  #glances: readonly SlotGlance[] | null = null;
  #stopped = false;

  constructor(parts: SlotSetParts) {
    this.#parts = parts;
  }

  get folder(): SlotFolder {
    return this.#folder ?? NO_FILES;
  }

  all(): Owner[] {
    return [...this.#owners.values()];
  }

  glances(): readonly SlotGlance[] {
    this.#glances ??= this.all().map(({ glance }) => glance);
    return this.#glances;
  }

  get(name: string): Owner | undefined {
    return this.#owners.get(name);
  }

  /** Throws 404 `slot.not_found`. */
  need(name: string): Owner {
    const owner = this.#owners.get(name);
    if (owner === undefined) throw new GatewayError('slot.not_found', { details: { slot: cutTo(name, 64) } });
    return owner;
  }

  /** What every slot that has an engine holds, those that are about to go included. */
  holdings(): Holding[] {
    return [...this.#owners.values(), ...this.#leaving.keys()]
      .map(({ holding }) => holding)
      .filter((holding) => holding !== null);
  }

  /** Whether an engine of this slot is there, also one that is about to go. */
  runs(name: string): boolean {
    return this.holdings().some((holding) => holding.name === name);
  }

  /**
   * Whether a slot of this name is about to go. Runners know engines by the name of their slot: a second one of the same name
   * would be taken for the first.
   */
  leaves(name: string): boolean {
    return [...this.#leaving.keys()].some((owner) => owner.config.name === name);
  }

  /** Reads the slot files anew; what they say counts from the next `arrange` on. */
  read(): readonly SlotConfig[] {
    this.#folder = this.#parts.readFolder(this.#folder);
    for (const problem of this.#folder.problems) this.#parts.log.warn(inSlotsFolder(problem), 'slot file');
    return this.#folder.configs;
  }

  /** Reads the slot files anew and follows them. */
  reload(): void {
    if (this.#stopped) return;
    this.read();
    this.arrange();
  }

  /** Makes the slots what files, swaps and models say: adds, changes and removes. */
  arrange(): void {
    if (this.#stopped) return;
    const { swaps, auto, drainMs } = this.#parts;
    const { configs: said, broken } = this.folder;
    const files = swaps.apply(said, (name) => this.#automatic(name));
    // A slot that is there goes on without a file that says anything; another one would be a second slot of its model.
    const reserved = [...broken].filter((name) => !this.#owners.has(name));
    const configs = auto.configs({ configs: files, broken: new Set(reserved) });
    const wanted = new Set(configs.map((config) => config.name));
    for (const [name, owner] of this.#owners) {
      if (wanted.has(name)) continue;
      this.#owners.delete(name);
      this.#glances = null;
      this.#shown.delete(name);
      this.#parts.bus.emit('slot_removed', { name });
      this.#leaving.set(owner, this.#letGo(owner, drainMs()));
    }
    for (const config of configs) {
      const owner = this.#owners.get(config.name);
      if (owner === undefined) this.#add(config);
      else if (owner.config !== config) this.#change(owner, config);
    }
  }

  /** The settings of a slot that is there without a file; one whose file is gone is none. */
  #automatic(name: string): SlotConfig | undefined {
    const config = this.#owners.get(name)?.config;
    return config?.auto ? config : undefined;
  }

  /** Tells of slots that have changed; another id may bind other models, which is looked at once for all of them. */
  announce(names: readonly string[]): void {
    let moved = false;
    for (const name of names) {
      const owner = this.#owners.get(name);
      if (owner === undefined) continue;
      this.#parts.bus.emit('slot', { slot: owner.record() });
      moved ||= this.#shown.get(name) !== owner.modelId;
      this.#shown.set(name, owner.modelId);
    }
    if (moved) this.arrange();
  }

  /** Resolves when a slot whose file is gone has drained and its engine has ended; one that stays is unloaded. */
  async drained(name: string): Promise<void> {
    const going = [...this.#leaving].filter(([owner]) => owner.config.name === name);
    await Promise.all([this.#owners.get(name)?.unload(), ...going.map(([, left]) => left)]);
  }

  /** Loads a slot for which nobody asks, if it is there; resolves when the load has an outcome. Never rejects. */
  async load(name: string): Promise<void> {
    const owner = this.#owners.get(name);
    if (owner !== undefined && !this.#stopped) await this.#load(owner);
  }

  /** Refuses everything from now on and resolves when every engine has ended; running requests have `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.all().map((owner) => owner.close(limitMs)), ...this.#leaving.values()]);
  }

  /** Resolves when the engine of a slot whose file is gone has ended; one that was made anew meanwhile waits for that. */
  async #letGo(owner: Owner, drainMs: number): Promise<void> {
    const { name } = owner.config;
    await owner.close(drainMs, goneError(name)).finally(() => this.#leaving.delete(owner));
    this.#owners.get(name)?.retry();
  }

  #add(config: SlotConfig): void {
    const owner = this.#parts.makeOwner(config);
    this.#owners.set(config.name, owner);
    this.#glances = null;
    if (config.enabled && config.autoload) void this.#load(owner);
  }

  #load(owner: Owner): Promise<void> {
    return owner.load('by itself').catch((cause: unknown) => {
      const reason =
        cause instanceof GatewayError ? (cause.options.details?.reason ?? cause.message) : String(cause);
      this.#parts.log.warn({ slot: owner.config.name, reason }, 'slot is not loaded');
    });
  }

  /** An engine whose model was chosen for it ends when another is chosen; what a file says waits for the next start. */
  #change(owner: Owner, config: SlotConfig): void {
    const before = owner.config.model;
    owner.configure(config);
    if (this.#parts.auto.chose(config) && before !== config.model) void owner.unload();
  }
}
