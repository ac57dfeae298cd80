import { join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import type { SlotPlanView, SlotRecord, SlotSettingsBody } from '../contract/slots.ts';
import { familyMemoryOf, memoryOf } from '../kit/process-identity.ts';
import type { Problem } from '../settings/problem.ts';
import { Announcer } from './announce.ts';
import { AutoSlots } from './auto-slots.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Engine, SlotModel } from './engines/engine.ts';
import { engineOf } from './engines/table.ts';
import { type AskEngine, askThrough, runChecks } from './health.ts';
import type { Lease, ReadyOptions } from './lease.ts';
import { Loads } from './loads.ts';
import { Measures } from './measures.ts';
import { MemorySample } from './memory-sample.ts';
import { endOrphans } from './orphans.ts';
import { Owner } from './owner.ts';
import type { OwnerParts } from './owner-parts.ts';
import { createRunners, type Runners, runFolderOf } from './runners/table.ts';
import { signOfLife } from './sign-of-life.ts';
import type { SlotConfig } from './slot-file.ts';
import { readSlotFolder, type SlotFolder } from './slot-folder.ts';
import { slotModel } from './slot-model.ts';
import type { Slots } from './slots-api.ts';
import type { SlotsOptions } from './slots-options.ts';

export type { Slots } from './slots-api.ts';
export type { SlotsOptions } from './slots-options.ts';

function runnersFor(options: SlotsOptions, ask: AskEngine): Runners {
  const { runner, settings, nodePath = process.execPath, workerPath } = options;
  if (runner !== undefined) return { worker: runner, process: runner, container: runner, attach: runner };
  const { state: stateFolder } = settings.folders;
  const environment = (name: string) => settings.environment(name);
  const listenPort = () => options.listenPort?.() ?? settings.value('port');
  return createRunners({ stateFolder, nodePath, workerPath, environment, ask, listenPort });
}

class AllSlots implements Slots {
  readonly #options: SlotsOptions;
  readonly #clock: Clock;
  readonly #owners = new Map<string, Owner>();
  readonly #announcer: Announcer;
  readonly #sample: MemorySample;
  readonly #ask: AskEngine;
  readonly #runners: Runners;
  readonly #unsubscribe: () => void;
  readonly #auto: AutoSlots;
  /** The id that each slot showed last. */
  readonly #shown = new Map<string, string | null>();
  #gpuNote: string | null = null;
  #folder: SlotFolder = { configs: [], problems: [], broken: new Set() };
  readonly #loads: Loads;
  /** Slots whose file is gone, until their engines have ended. */
  readonly #leaving = new Map<Owner, Promise<void>>();
  #stopped = false;

  constructor(options: SlotsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#sample = new MemorySample(this.#clock);
    this.#ask = options.ask ?? askThrough(options.outbound);
    this.#runners = runnersFor(options, this.#ask);
    this.#announcer = new Announcer(this.#clock, (name) => this.#announce(name));
    for (const slot of endOrphans(runFolderOf(options.settings.folders.state)))
      options.log.warn({ slot }, 'ended an engine left by an earlier run');
    this.#loads = this.#openLoads();
    this.#auto = new AutoSlots({
      models: () => options.models?.() ?? [],
      kept: options.keptBindings,
      held: (config) => this.#held(config),
    });
    this.#folder = this.#readFolder();
    const wanted = new Set(this.#folder.configs.filter(({ enabled }) => enabled).map(({ name }) => name));
    for (const runner of Object.values(this.#runners)) runner.reconcile?.(wanted);
    this.#arrange();
    this.#unsubscribe = options.bus.subscribe((entry) => {
      if (entry.name === 'hardware') this.#gpuNote = options.gpuNote?.() ?? null;
      if (entry.name !== 'model') return;
      for (const owner of this.#owners.values()) owner.refreshModel();
      this.#arrange();
    });
  }

  list(): SlotRecord[] {
    return [...this.#owners.values()].map((owner) => owner.record());
  }

  get(name: string): SlotRecord | undefined {
    return this.#owners.get(name)?.record();
  }

  config(name: string): SlotConfig | undefined {
    return this.#owners.get(name)?.config;
  }

  problems(): readonly Problem[] {
    return this.#folder.problems;
  }

  lines(name: string): readonly string[] {
    return this.#owner(name).current?.running.lines() ?? [];
  }

  async ensureReady(name: string, options: ReadyOptions): Promise<Lease> {
    return this.#owner(name).ensureReady(options);
  }

  async load(name: string): Promise<SlotRecord> {
    const owner = this.#owner(name);
    await owner.load();
    return owner.record();
  }

  async unload(name: string): Promise<SlotRecord> {
    const owner = this.#owner(name);
    await owner.unload();
    return owner.record();
  }

  async restart(name: string): Promise<SlotRecord> {
    const owner = this.#owner(name);
    await owner.restart();
    return owner.record();
  }

  async swap(name: string, _to: { modelId: string; persist?: boolean }): Promise<SlotRecord> {
    return this.#owner(name).record();
  }

  plan(_name: string, _options?: { modelId?: string }): SlotPlanView {
    throw new GatewayError('internal');
  }

  async create(name: string, _settings: SlotSettingsBody): Promise<SlotRecord> {
    return this.#owner(name).record();
  }

  async change(name: string, _settings: SlotSettingsBody): Promise<SlotRecord> {
    return this.#owner(name).record();
  }

  async remove(name: string): Promise<void> {
    this.#owner(name);
  }

  note(name: string, facts: { tokensPerSecond?: number }): void {
    if (facts.tokensPerSecond !== undefined) this.#owners.get(name)?.note(facts.tokensPerSecond);
  }

  reload(): void {
    if (this.#stopped) return;
    this.#folder = this.#readFolder();
    this.#arrange();
  }

  #readFolder(): SlotFolder {
    const folder = readSlotFolder(join(this.#options.settings.folders.config, 'slots'));
    for (const problem of folder.problems) this.#options.log.warn({ ...problem }, 'slot file');
    return folder;
  }

  /** Makes the slots what files and models say: adds, changes and removes. */
  #arrange(): void {
    if (this.#stopped) return;
    const configs = this.#auto.configs(this.#folder);
    const wanted = new Set(configs.map((config) => config.name));
    for (const [name, owner] of this.#owners) {
      if (wanted.has(name) || this.#folder.broken.has(name)) continue;
      this.#owners.delete(name);
      this.#shown.delete(name);
      const left = owner.close(this.#drainMs()).finally(() => this.#leaving.delete(owner));
      this.#leaving.set(owner, left);
    }
    for (const config of configs) {
      const owner = this.#owners.get(config.name);
      if (owner === undefined) this.#add(config);
      else if (owner.config !== config) this.#change(owner, config);
    }
  }

  /** An engine whose model was chosen for it ends when another is chosen; what a file says waits for the next start. */
  #change(owner: Owner, config: SlotConfig): void {
    const before = owner.config.model;
    owner.configure(config);
    if (this.#auto.chose(config) && before !== config.model) void owner.unload();
  }

  /** What a slot with this file holds: the model it names, else the one that it runs or would load. */
  #held(config: SlotConfig): string | null {
    const owner = this.#owners.get(config.name);
    if (config.model !== null || owner === undefined) return this.#modelFor(config)?.id ?? null;
    return owner.modelId;
  }

  async stop(limitMs: number): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    const closing = [...this.#owners.values()].map((owner) => owner.close(limitMs));
    await Promise.all([...closing, ...this.#leaving.values()]);
    this.#announcer.flush();
  }

  #owner(name: string): Owner {
    const owner = this.#owners.get(name);
    if (owner === undefined)
      throw new GatewayError('slot.not_found', { details: { slot: name.slice(0, 64) } });
    return owner;
  }

  #add(config: SlotConfig): void {
    const owner = new Owner(config, this.#parts(config.name));
    this.#owners.set(config.name, owner);
    this.#announcer.changed(config.name);
    if (!config.enabled || !config.autoload) return;
    owner.load('by itself').catch((cause: unknown) => {
      const reason =
        cause instanceof GatewayError ? (cause.options.details?.reason ?? cause.message) : String(cause);
      this.#options.log.warn({ slot: config.name, reason }, 'slot is not loaded');
    });
  }

  #parts(name: string): OwnerParts {
    const { settings, log } = this.#options;
    const checksOf = (config: SlotConfig) => engineOf(config.engine) as Engine;
    return {
      clock: this.#clock,
      log,
      queueMax: () => settings.value('queueMax'),
      loadWaitMs: (stream) => settings.value(stream ? 'loadWaitStreamS' : 'loadWaitS') * 1000,
      model: (config) => this.#modelFor(config),
      admit: (config, asked) => this.#loads.admit(config, asked),
      leaveLine: () => this.#loads.leave(name),
      ready: (current) => this.#loads.ready(current),
      served: (current) => this.#loads.served(current),
      ended: (current) => this.#loads.ended(current),
      start: (_, launch) => this.#runners[launch.how.runner].start(launch),
      check: (config, launch, loaded, signal) =>
        runChecks(this.#ask, loaded, checksOf(config).checks(launch), signal),
      signOfLife: (config, launch) => signOfLife(checksOf(config), launch),
      ask: this.#ask,
      watchPace: this.#options.watchPace,
      gpuNote: () => this.#gpuNote,
      residentBytes: (pid) => this.#sample.of(pid)?.resident ?? null,
      changed: () => {
        this.#announcer.changed(name);
        this.#loads.changed();
      },
    };
  }

  /** The model that a slot would load. A registry that fails costs the model alone. */
  #modelFor(config: SlotConfig): SlotModel | null {
    try {
      const source = (engineOf(config.engine) as Engine).modelSource(config);
      return slotModel(config, source, (asked) => this.#options.modelFor(asked));
    } catch (cause) {
      this.#options.log.error(
        { slot: config.name, err: cause },
        'the model of the slot could not be looked up',
      );
      return null;
    }
  }

  #openLoads(): Loads {
    const { settings, cores, room, keptMeasures } = this.#options;
    return new Loads({
      clock: this.#clock,
      measures: new Measures(keptMeasures),
      cores,
      cpuThreads: () => settings.value('cpuThreads'),
      queueMax: () => settings.value('queueMax'),
      memoryLimit: () => settings.value('memoryLimit'),
      room,
      model: (config) => this.#modelFor(config),
      holdings: () =>
        [...this.#owners.values(), ...this.#leaving.keys()]
          .map(({ holding }) => holding)
          .filter((holding) => holding !== null),
      memoryOf,
      familyMemoryOf,
      evict: (slot) => this.#owners.get(slot)?.evict(),
      retry: (slot) => this.#owners.get(slot)?.retry(),
    });
  }

  #announce(name: string): void {
    const owner = this.#owners.get(name);
    if (owner === undefined) return;
    this.#options.bus.emit('slot', { slot: owner.record() });
    if (this.#shown.get(name) === owner.modelId) return;
    this.#shown.set(name, owner.modelId);
    this.#arrange();
  }

  #drainMs(): number {
    return this.#options.settings.value('drainLimitS') * 1000;
  }
}

/**
 * Opens the slots: engines left by a killed gateway are ended, slot files are read, and slots with `autoload` start
 * in the background. Never waits for a model and never throws for a slot.
 */
export function createSlots(options: SlotsOptions): Slots {
  return new AllSlots(options);
}
