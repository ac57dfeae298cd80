import { join } from 'node:path';
import type { ModelFitView } from '../contract/catalog.ts';
import type { SlotPlanView, SlotRecord, SlotSettingsBody, SlotSettingsView } from '../contract/slots.ts';
import { familyMemoryOf, memoryOf } from '../lib/process/process-identity.ts';
import type { Problem } from '../settings/problem.ts';
import type { Guard } from '../settings/revision.ts';
import { Loads } from './admission/controller.ts';
import type { Beside } from './admission/launch-plan.ts';
import { Measures } from './admission/measured-memory.ts';
import { Outlook } from './admission/planner.ts';
import type { Foreseen } from './admission/preview.ts';
import { AutoSlots } from './binding/auto-slots.ts';
import { SlotModels } from './binding/slot-models.ts';
import { Swaps } from './binding/swaps.ts';
import { followModels } from './binding/watch-models.ts';
import { SlotAdmin } from './config/slot-admin.ts';
import type { SlotConfig } from './config/slot-file.ts';
import { SlotFiles } from './config/slot-files.ts';
import { readSlotFolder } from './config/slot-folder.ts';
import type { SlotModel } from './engines/engine.ts';
import { choosesCards } from './engines/visible-devices.ts';
import { Announcer } from './lifecycle/change-notifier.ts';
import { type Clock, systemClock } from './lifecycle/clock.ts';
import { OwnerEffects } from './lifecycle/controller-effects.ts';
import { KeptEngines } from './lifecycle/engine-adoption.ts';
import { type AskEngine, askThrough } from './lifecycle/health.ts';
import { type Lease, leaseFor, type ReadyOptions } from './lifecycle/lease.ts';
import { endOrphans } from './lifecycle/orphans.ts';
import { Owner } from './lifecycle/slot-controller.ts';
import { SlotWorks } from './lifecycle/slot-events.ts';
import { goneError } from './refusals.ts';
import { runnersFor } from './runners/create-runners.ts';
import { type Runners, runFolderOf } from './runners/table.ts';
import { SlotSet } from './slot-set.ts';
import type { SlotGlance } from './slot-view.ts';
import type { Slots } from './slots-api.ts';
import type { SlotsOptions } from './slots-options.ts';

export type { Slots } from './slots-api.ts';
export type { SlotsOptions } from './slots-options.ts';

class AllSlots implements Slots {
  readonly #works = new SlotWorks();
  readonly onWork: Slots['onWork'] = (listener) => this.#works.on(listener);
  readonly #options: SlotsOptions;
  readonly #clock: Clock;
  readonly #announcer: Announcer;
  readonly #models: SlotModels;
  readonly #set: SlotSet;
  readonly #kept: KeptEngines;
  readonly #loads: Loads;
  readonly #effects: OwnerEffects;
  readonly #admin: SlotAdmin;
  readonly #outlook: Outlook;
  readonly #measures: Measures;
  readonly #unsubscribe: () => void;

  constructor(options: SlotsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const ask = options.ask ?? askThrough(options.outbound);
    const runners = runnersFor(options, ask);
    const swaps = new Swaps();
    this.#models = new SlotModels((config) => options.modelFor(config), swaps, options.log, options.patience);
    this.#set = this.#openSet(swaps);
    this.#kept = new KeptEngines(runners, this.#set);
    this.#announcer = new Announcer(this.#clock, (names) => this.#set.announce(names));
    this.#measures = new Measures(options.keptMeasures);
    this.#loads = this.#openLoads();
    this.#effects = this.#openEffects(runners, ask);
    this.#admin = this.#openAdmin(swaps);
    this.#outlook = new Outlook({
      set: this.#set,
      models: this.#models,
      loads: this.#loads,
      fitting: (config, modelId) => this.#admin.fitting(config, modelId),
      cpuThreads: () => options.settings.value('cpuThreads'),
    });
    for (const slot of endOrphans(runFolderOf(options.settings.folders.state)))
      options.log.warn({ slot }, 'ended an engine left by an earlier run');
    const wanted = this.#set.read().filter(({ enabled }) => enabled);
    this.#kept.find(new Set(wanted.map(({ name }) => name)));
    this.#set.arrange();
    // First of both: what the slots then say of graphics is what is known by now.
    const unnote = options.bus.subscribe(({ name }) => {
      if (name === 'hardware') this.#effects.noteGpu();
    });
    const unfollow = followModels(this.#set, options.bus, options.log);
    this.#unsubscribe = () => {
      unnote();
      unfollow();
    };
  }

  list(): SlotRecord[] {
    return this.#set.all().map((owner) => owner.record());
  }

  glances(): readonly SlotGlance[] {
    return this.#set.glances();
  }

  get(name: string): SlotRecord | undefined {
    return this.#set.get(name)?.record();
  }

  config(name: string): SlotConfig | undefined {
    return this.#set.get(name)?.config;
  }

  problems(): readonly Problem[] {
    return this.#outlook.problems();
  }

  lines(name: string): readonly string[] {
    return this.#set.need(name).current?.running.lines() ?? [];
  }

  async ensureReady(name: string, options: ReadyOptions): Promise<Lease> {
    const owner = this.#set.get(name);
    // Dispatch found it a moment ago: it was removed since, and another one may serve the same.
    if (owner === undefined) throw goneError(name);
    return leaseFor(await owner.ensureReady(options), options);
  }

  leaseNow(name: string, options: Pick<ReadyOptions, 'modelId'>): Lease | null {
    const lease = this.#set.get(name)?.leaseNow() ?? null;
    return lease && leaseFor(lease, options);
  }

  async load(name: string): Promise<SlotRecord> {
    const owner = this.#set.need(name);
    await owner.load();
    return owner.record();
  }

  async unload(name: string): Promise<SlotRecord> {
    const owner = this.#set.need(name);
    await owner.unload();
    return owner.record();
  }

  async restart(name: string): Promise<SlotRecord> {
    const owner = this.#set.need(name);
    await owner.restart();
    return owner.record();
  }

  async swap(name: string, { modelId, persist = true }: { modelId: string; persist?: boolean }) {
    const owner = this.#set.need(name);
    const given = await this.#admin.give(name, modelId, persist);
    if (owner.current?.launch.modelId === given) await owner.load();
    else await owner.restart();
    return owner.record();
  }

  plan(name: string, { modelId }: { modelId?: string } = {}): SlotPlanView {
    return this.#outlook.plan(name, modelId);
  }

  foresee(name: string): Foreseen {
    return this.#outlook.foresee(name);
  }

  settings(name: string): SlotSettingsView {
    return this.#outlook.settings(name);
  }

  async create(name: string, settings: SlotSettingsBody): Promise<SlotRecord> {
    await this.#admin.create(name, settings);
    return this.#set.need(name).record();
  }

  async change(name: string, settings: SlotSettingsBody, guard?: Guard): Promise<SlotRecord> {
    await this.#admin.change(name, settings, guard);
    return this.#set.need(name).record();
  }

  remove(name: string, guard?: Guard): Promise<void> {
    return this.#admin.remove(name, guard);
  }

  fit(model: SlotModel, beside?: Beside): ModelFitView {
    return this.#outlook.fit(model, beside);
  }

  measured(modelId: string): Record<string, number> {
    return this.#measures.ofModel(modelId);
  }

  note(name: string, facts: { tokensPerSecond?: number }): void {
    if (facts.tokensPerSecond !== undefined) this.#set.get(name)?.note(facts.tokensPerSecond);
  }

  reload(): void {
    this.#set.reload();
  }

  async stop(limitMs: number): Promise<void> {
    this.#unsubscribe();
    this.#kept.retire();
    await this.#set.stop(limitMs);
    this.#announcer.flush();
  }

  #openEffects(runners: Runners, ask: AskEngine): OwnerEffects {
    const { log, settings, watchPace } = this.#options;
    return new OwnerEffects({
      ...{ runners, ask, log, settings, watchPace },
      clock: this.#clock,
      kept: this.#kept,
      set: this.#set,
      models: this.#models,
      loads: this.#loads,
      works: this.#works,
      announcer: this.#announcer,
      secrets: () => this.#options.secrets?.() ?? [],
      gpuNote: () => this.#options.gpuNote?.() ?? null,
    });
  }

  #openSet(swaps: Swaps): SlotSet {
    const { log, bus, models, outOfSight, keptBindings, settings } = this.#options;
    const auto = new AutoSlots({
      models: () => models?.() ?? [],
      outOfSight: () => outOfSight?.() ?? [],
      kept: keptBindings,
      held: (config) => this.#models.held(config, this.#set.get(config.name)),
    });
    return new SlotSet({
      log,
      bus,
      auto,
      swaps,
      readFolder: (before) => readSlotFolder(this.#slotFolder(), before),
      makeOwner: (config) => {
        const owner = new Owner(config, this.#effects.of(config.name));
        this.#announcer.changed(config.name);
        return owner;
      },
      drainMs: () => settings.value('drainLimitS') * 1000,
    });
  }

  #openAdmin(swaps: Swaps): SlotAdmin {
    const set = this.#set;
    return new SlotAdmin({
      files: new SlotFiles(this.#slotFolder()),
      swaps,
      config: (name) => this.config(name),
      inFile: (name) => set.folder.configs.find((config) => config.name === name)?.model ?? null,
      broken: () => set.folder.broken,
      count: () => set.all().length,
      reload: () => set.reload(),
      modelNamed: (config, id) => this.#models.named(config, id),
      forecast: (config, model) => this.#loads.forecast(config, model, set.get(config.name)?.holding ?? null),
      drained: (name) => set.drained(name),
    });
  }

  #openLoads(): Loads {
    const { settings, cores, room, cardMemoryOf } = this.#options;
    return new Loads({
      clock: this.#clock,
      measures: this.#measures,
      cores,
      cpuThreads: () => settings.value('cpuThreads'),
      queueMax: () => settings.value('queueMax'),
      memoryLimit: () => settings.value('memoryLimit'),
      room: (...load) => {
        const { card, others, ...all } = room(...load);
        return choosesCards(settings.environment)
          ? all
          : { ...all, ...(card && { card }), ...(others && { others }) };
      },
      model: (config) => this.#models.of(config),
      holdings: () => this.#set.holdings(),
      runsAlready: (slot) => this.#kept.has(slot),
      memoryOf,
      familyMemoryOf,
      cardMemoryOf: cardMemoryOf ?? (async () => null),
      evict: (slot) => this.#works.evict(this.#set.get(slot)),
      retry: (slot) => this.#set.get(slot)?.retry(),
    });
  }

  #slotFolder(): string {
    return join(this.#options.settings.folders.config, 'slots');
  }
}

/**
 * Opens the slots: engines left by a killed gateway are ended, slot files are read, and slots with `autoload` start
 * in the background. Never waits for a model and never throws for a slot.
 */
export function createSlots(options: SlotsOptions): Slots {
  return new AllSlots(options);
}
