import { join } from 'node:path';
import type { ModelFitView } from '../contract/catalog.ts';
import { GatewayError } from '../contract/errors.ts';
import type {
  SlotPlanView,
  SlotRecord,
  SlotSettingsBody,
  SlotSettingsView,
  SlotWorkflowSettings,
} from '../contract/slots.ts';
import { findProgram } from '../lib/process/find-program.ts';
import { processTreeMemory, proportionalTreeMemory } from '../lib/process/process-memory.ts';
import type { Problem } from '../settings/problem.ts';
import type { ChangeGuard } from '../settings/revision.ts';
import { AdmissionController } from './admission/controller.ts';
import type { PlannedReservations } from './admission/launch-plan.ts';
import { Measurements } from './admission/measured-memory.ts';
import { Planner } from './admission/planner.ts';
import type { Preview } from './admission/preview.ts';
import { AutoSlots } from './binding/auto-slots.ts';
import { SlotModels } from './binding/slot-models.ts';
import { Swaps } from './binding/swaps.ts';
import { followModels } from './binding/watch-models.ts';
import { SlotAdmin } from './config/slot-admin.ts';
import type { SlotConfig } from './config/slot-config.ts';
import { SlotFiles } from './config/slot-files.ts';
import { readSlotFolder } from './config/slot-folder.ts';
import type { SlotModel } from './engines/engine.ts';
import { environmentChoosesCards } from './engines/visible-devices.ts';
import { ChangeNotifier } from './lifecycle/change-notifier.ts';
import { type Clock, systemClock } from './lifecycle/clock.ts';
import type { EngineDiagnosis, FailedCall } from './lifecycle/controller-deps.ts';
import { ControllerEffects } from './lifecycle/controller-effects.ts';
import { EngineAdoption } from './lifecycle/engine-adoption.ts';
import { createEngineQuery, type QueryEngine } from './lifecycle/health.ts';
import { type Lease, leaseFor, type ReadyOptions } from './lifecycle/lease.ts';
import { endOrphans } from './lifecycle/orphans.ts';
import { SlotController } from './lifecycle/slot-controller.ts';
import { SlotEvents } from './lifecycle/slot-events.ts';
import { movedError, removedError } from './refusals.ts';
import { runnersFor } from './runners/create-runners.ts';
import { type Runners, runFolderOf } from './runners/table.ts';
import { SlotSet } from './slot-set.ts';
import type { SlotView } from './slot-view.ts';
import type { Slots } from './slots-api.ts';
import type { SlotsOptions } from './slots-options.ts';

export type { Slots } from './slots-api.ts';
export type { SlotsOptions } from './slots-options.ts';

class AllSlots implements Slots {
  readonly #events = new SlotEvents();
  readonly onEvent: Slots['onEvent'] = (listener) => this.#events.on(listener);
  readonly #options: SlotsOptions;
  readonly #clock: Clock;
  readonly #changeNotifier: ChangeNotifier;
  readonly #models: SlotModels;
  readonly #auto: AutoSlots;
  readonly #set: SlotSet;
  readonly #adoption: EngineAdoption;
  readonly #admission: AdmissionController;
  readonly #effects: ControllerEffects;
  readonly #admin: SlotAdmin;
  readonly #planner: Planner;
  readonly #measurements: Measurements;
  readonly #unsubscribe: () => void;

  constructor(options: SlotsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const query = options.queryEngine ?? createEngineQuery(options.outbound);
    const runners = runnersFor(options, query);
    const swaps = new Swaps();
    this.#models = new SlotModels(
      (config) => options.modelFor(config),
      swaps,
      options.log,
      options.mountGuard,
    );
    this.#auto = this.#openAuto();
    this.#set = this.#openSet(swaps);
    this.#adoption = new EngineAdoption(runners, this.#set);
    this.#changeNotifier = new ChangeNotifier(this.#clock, (names) => this.#set.emitChanges(names));
    this.#measurements = new Measurements(options.measurementStore);
    this.#admission = this.#openAdmission();
    this.#effects = this.#openEffects(runners, query);
    this.#admin = this.#openAdmin(swaps);
    this.#planner = new Planner({
      set: this.#set,
      models: this.#models,
      admission: this.#admission,
      compatibleModel: (config, modelId) => this.#admin.compatibleModel(config, modelId),
      cpuThreads: () => options.settings.value('cpuThreads'),
      hasProgram: (name) => findProgram(name, options.settings.environment('PATH') ?? '') !== null,
      speedOf: (model, fit) => options.speedOf?.(model, fit) ?? null,
      withDefaultContext: (slot, model) => options.withDefaultContext?.(slot, model) ?? model,
    });
    for (const slot of endOrphans(runFolderOf(options.settings.folders.state)))
      options.log.warn({ slot }, 'ended an engine left by an earlier run');
    const wanted = this.#set.read().filter(({ enabled }) => enabled);
    this.#adoption.discover(new Set(wanted.map(({ name }) => name)));
    this.#set.reconcile();
    // Subscribed before `followModels`, so that its update already sees the new GPU note.
    const unsubscribeHardware = options.bus.subscribe(({ name }) => {
      if (name === 'hardware') this.#effects.refreshGpuNote();
    });
    const unsubscribeModels = followModels(this.#set, this.#auto, options.bus, options.log);
    this.#unsubscribe = () => {
      unsubscribeHardware();
      unsubscribeModels();
    };
  }

  list(): SlotRecord[] {
    return this.#set.all().map((controller) => controller.record());
  }

  views(): readonly SlotView[] {
    return this.#set.views();
  }

  get(name: string): SlotRecord | undefined {
    return this.#set.get(name)?.record();
  }

  config(name: string): SlotConfig | undefined {
    return this.#set.get(name)?.config;
  }

  problems(): readonly Problem[] {
    return this.#planner.problems();
  }

  lines(name: string): readonly string[] {
    const host = this.#set.sharing.hostOf(this.#set.getOrThrow(name));
    return host.current?.running.lines() ?? [];
  }

  async ensureReady(name: string, options: ReadyOptions): Promise<Lease> {
    const controller = this.#set.get(name);
    // The slot existed at dispatch and was removed since. Another one may serve the request.
    if (controller === undefined) throw removedError(name);
    const { sharing } = this.#set;
    const host = sharing.hostOf(controller);
    const lease = await sharing.whileWaiting(host, controller, () =>
      host === controller
        ? this.#ownLease(controller, options)
        : this.#sharedLease(controller, host, options),
    );
    return leaseFor(lease, options);
  }

  async #ownLease(controller: SlotController, options: ReadyOptions): Promise<Lease> {
    const lease = await controller.ensureReady(options);
    this.#set.sharing.use(controller, controller);
    return lease;
  }

  async #sharedLease(
    controller: SlotController,
    host: SlotController,
    options: ReadyOptions,
  ): Promise<Lease> {
    const { name } = controller.config;
    const refused = controller.refusal('admin');
    if (refused !== null) throw refused;
    const lease = await host.ensureReady(options).catch((cause: unknown) => {
      throw cause instanceof GatewayError && cause.code === 'slot.disabled' ? movedError(name) : cause;
    });
    // The settings of either slot may have changed meanwhile.
    if (host.runningKey === controller.engineKey) return this.#guestLease(lease, controller, host);
    lease.release();
    throw movedError(name);
  }

  leaseNow(name: string, options: Pick<ReadyOptions, 'modelId'>): Lease | null {
    const controller = this.#set.get(name);
    if (controller === undefined) return null;
    const host = this.#set.sharing.hostOf(controller);
    if (host !== controller && controller.refusal('admin') !== null) return null;
    const lease = host.leaseNow();
    if (lease === null) return null;
    return leaseFor(this.#guestLease(lease, controller, host), options);
  }

  async load(name: string): Promise<SlotRecord> {
    const controller = this.#set.getOrThrow(name);
    await this.#set.sharing.load(controller);
    return controller.record();
  }

  async unload(name: string): Promise<SlotRecord> {
    const controller = this.#set.getOrThrow(name);
    await this.#set.sharing.unload(controller);
    return controller.record();
  }

  async restart(name: string): Promise<SlotRecord> {
    const controller = this.#set.getOrThrow(name);
    const refused = controller.refusal('admin');
    if (refused !== null) throw refused;
    const host = this.#set.sharing.hostOf(controller);
    await this.#restart(host);
    this.#set.sharing.use(host, controller);
    return controller.record();
  }

  async swap(name: string, { modelId, persist = true }: { modelId: string; persist?: boolean }) {
    const controller = this.#set.getOrThrow(name);
    const swappedId = await this.#admin.setModel(name, modelId, persist);
    if (controller.current?.launch.modelId === swappedId) await this.#set.sharing.load(controller);
    else await this.#changeEngine(controller);
    return controller.record();
  }

  followModels(restart: string): void {
    const { sharing } = this.#set;
    const controller = this.#set.get(restart);
    const running = controller && (sharing.hostOf(controller).current?.launch.modelId ?? null);
    for (const each of this.#set.all()) each.refreshModel();
    this.#set.reconcile();
    if (controller === undefined || running === null) return;
    if (running === this.#models.of(controller.config)?.id) return;
    // A failed load is shown by the slot.
    this.#changeEngine(controller).catch(() => {});
  }

  /** Ends the engine of a slot whose settings have changed, and loads the one that serves it now. */
  async #changeEngine(controller: SlotController): Promise<void> {
    const { sharing } = this.#set;
    const { config } = controller;
    if (sharing.runningHostFor(controller, config, this.#models.of(config)) === null)
      return this.#restart(controller);
    const guests = sharing.earlierGuestsOf(controller);
    await controller.leaveFor(movedError(config.name));
    await sharing.load(controller);
    this.#set.loadAgain(guests);
  }

  /** Restarts the engine of a slot. Slots that used it load again, with their own engine if they share this one no longer. */
  async #restart(host: SlotController): Promise<void> {
    const guests = this.#set.sharing.earlierGuestsOf(host);
    await host.restart();
    this.#set.loadAgain(guests);
  }

  /** Returns the lease of the slot that a guest requested, whichever slot loaded the engine. */
  #guestLease(lease: Lease, controller: SlotController, host: SlotController): Lease {
    this.#set.sharing.use(host, controller);
    if (host === controller) return lease;
    return { ...lease, slot: controller.config.name, degraded: controller.view.degraded };
  }

  plan(name: string, { modelId }: { modelId?: string } = {}): SlotPlanView {
    return this.#planner.plan(name, modelId);
  }

  preview(name: string): Preview {
    return this.#planner.preview(name);
  }

  settings(name: string): SlotSettingsView {
    return this.#planner.settings(name);
  }

  async create(name: string, settings: SlotSettingsBody): Promise<SlotRecord> {
    await this.#admin.create(name, settings);
    return this.#set.getOrThrow(name).record();
  }

  async change(name: string, settings: SlotSettingsBody, guard?: ChangeGuard): Promise<SlotRecord> {
    await this.#admin.change(name, settings, guard);
    return this.#set.getOrThrow(name).record();
  }

  async setWorkflow(name: string, workflow: SlotWorkflowSettings): Promise<SlotRecord> {
    await this.#admin.setWorkflow(name, workflow);
    return this.#set.getOrThrow(name).record();
  }

  remove(name: string, guard?: ChangeGuard): Promise<void> {
    return this.#admin.remove(name, guard);
  }

  fit(model: SlotModel, planned?: PlannedReservations): ModelFitView {
    return this.#planner.fit(model, planned);
  }

  measured(modelId: string): Record<string, number> {
    return this.#measurements.ofModel(modelId);
  }

  async diagnose(name: string, call: FailedCall): Promise<EngineDiagnosis> {
    const controller = this.#set.get(name);
    if (controller === undefined) return { reason: null, lines: [] };
    return this.#set.sharing.hostOf(controller).diagnose(call);
  }

  recordUsage(name: string, usage: { tokensPerSecond?: number }): void {
    const controller = this.#set.get(name);
    if (controller === undefined || usage.tokensPerSecond === undefined) return;
    this.#set.sharing.hostOf(controller).recordSpeed(usage.tokensPerSecond);
  }

  reload(): void {
    this.#set.reload();
  }

  async stop(limitMs: number): Promise<void> {
    this.#unsubscribe();
    this.#adoption.detach();
    await this.#set.stop(limitMs);
    this.#changeNotifier.flush();
  }

  #openEffects(runners: Runners, query: QueryEngine): ControllerEffects {
    const { log, settings, watchPace } = this.#options;
    return new ControllerEffects({
      ...{ runners, query, log, settings, watchPace },
      clock: this.#clock,
      adoption: this.#adoption,
      set: this.#set,
      models: this.#models,
      admission: this.#admission,
      events: this.#events,
      changeNotifier: this.#changeNotifier,
      savedStates: this.#options.kvCache,
      secrets: () => this.#options.secrets?.() ?? [],
      gpuNote: () => this.#options.gpuNote?.() ?? null,
    });
  }

  #openAuto(): AutoSlots {
    const { models, absentModels, bindingStore, settings } = this.#options;
    return new AutoSlots({
      models: () => models?.() ?? [],
      absentModels: () => absentModels?.() ?? [],
      hasProgram: (name) => findProgram(name, settings.environment('PATH') ?? '') !== null,
      store: bindingStore,
      modelHeldBy: (config) => this.#models.heldModelId(config, this.#set.get(config.name)),
    });
  }

  #openSet(swaps: Swaps): SlotSet {
    const { log, bus, settings } = this.#options;
    return new SlotSet({
      log,
      bus,
      auto: this.#auto,
      swaps,
      readFolder: (before) => readSlotFolder(this.#slotFolder(), before),
      createController: (config) => {
        const controller = new SlotController(config, this.#effects.of(config.name), this.#set.sharing);
        this.#changeNotifier.changed(config.name);
        return controller;
      },
      drainMs: () => settings.value('drainLimitS') * 1000,
      onJoined: (guest, engine) => this.#events.joined(guest, engine),
    });
  }

  #openAdmin(swaps: Swaps): SlotAdmin {
    const set = this.#set;
    return new SlotAdmin({
      files: new SlotFiles(this.#slotFolder()),
      swaps,
      config: (name) => this.config(name),
      modelInFile: (name) => set.folder.configs.find((config) => config.name === name)?.model ?? null,
      broken: () => set.folder.broken,
      count: () => set.all().length,
      reload: () => set.reload(),
      modelNamed: (config, id) => this.#models.modelNamed(config, id),
      forecast: (config, model) => this.#planner.forecast(set.getOrThrow(config.name), config, model),
      drained: (name) => set.waitUntilDrained(name),
    });
  }

  #openAdmission(): AdmissionController {
    const { settings, cores, headroom, cardMemoryOf, rereadCards } = this.#options;
    return new AdmissionController({
      clock: this.#clock,
      measurements: this.#measurements,
      cores,
      cpuThreads: () => settings.value('cpuThreads'),
      queueMax: () => settings.value('queueMax'),
      memoryLimit: () => settings.value('memoryLimit'),
      headroom: (...load) => {
        const { card, alternatives, ...all } = headroom(...load);
        return environmentChoosesCards(settings.environment)
          ? all
          : { ...all, ...(card && { card }), ...(alternatives && { alternatives }) };
      },
      model: (config) => this.#models.of(config),
      memoryUses: () => this.#set.memoryUses(),
      isAlreadyRunning: (slot) => this.#adoption.has(slot),
      memoryOf: (pid) => processTreeMemory(pid),
      measureMemory: (pid) => proportionalTreeMemory(pid),
      cardMemoryOf: cardMemoryOf ?? (async () => null),
      rereadCards: rereadCards ?? (() => false),
      reclaimHost: (bytes) => this.#options.reclaimHost?.(bytes),
      evict: (slot) => this.#events.evict(this.#set.get(slot)),
      retry: (slot) => this.#set.get(slot)?.retry(),
    });
  }

  #slotFolder(): string {
    return join(this.#options.settings.folders.config, 'slots');
  }
}

/**
 * Creates the slots: ends engines that a killed gateway left, reads the slot files, and starts slots with
 * `autoload` in the background. Never waits for a model and never throws for a single slot.
 */
export function createSlots(options: SlotsOptions): Slots {
  return new AllSlots(options);
}
