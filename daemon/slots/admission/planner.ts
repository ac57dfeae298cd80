import type { ModelFitView } from '../../contract/catalog.ts';
import type { SlotPlanView, SlotSettingsView } from '../../contract/slots.ts';
import type { Problem } from '../../settings/problem.ts';
import type { SlotModels } from '../binding/slot-models.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { inSlotsFolder } from '../config/slot-folder.ts';
import { slotSettingsView } from '../config/slot-settings.ts';
import { voiceProblem } from '../config/voice-problem.ts';
import type { SlotModel } from '../engines/engine.ts';
import type { SlotController } from '../lifecycle/slot-controller.ts';
import type { SlotSet } from '../slot-set.ts';
import type { AdmissionController, Forecast } from './controller.ts';
import { fitOf } from './fit.ts';
import type { PlannedReservations } from './launch-plan.ts';
import { planView } from './plan.ts';
import { type Preview, previewRequest } from './preview.ts';

export interface PlannerDeps {
  readonly set: SlotSet;
  readonly models: SlotModels;
  readonly admission: AdmissionController;
  /** Returns the model with this id for such a slot. Throws when none fits. */
  compatibleModel(config: SlotConfig, modelId: string): SlotModel;
  /** Setting `cpuThreads`. */
  cpuThreads(): number;
  /** Estimates how fast a model would generate where it fits; null when that is not known. */
  speedOf(model: SlotModel, fit: Pick<ModelFitView, 'pool'>): ModelFitView['speed'] | null;
  /** Adds the window that a chat slot without one gets to its model. */
  withDefaultContext(slot: SlotConfig, model: SlotModel): SlotModel;
  /** Returns whether a program of this name is installed. */
  hasProgram(name: string): boolean;
}

/** Dry runs: what would happen to slots, models and requests. Changes nothing. */
export class Planner {
  readonly #deps: PlannerDeps;

  constructor(deps: PlannerDeps) {
    this.#deps = deps;
  }

  /** See `Slots.plan`. */
  plan(name: string, modelId: string | undefined): SlotPlanView {
    const { set, models, compatibleModel, cpuThreads } = this.#deps;
    const controller = set.getOrThrow(name);
    const { config } = controller;
    const isModelRequested = modelId !== undefined;
    const model = isModelRequested ? compatibleModel(config, modelId) : models.of(config);
    const wanted = isModelRequested && model !== null ? { ...config, model: model.id } : config;
    const forecast = this.forecast(controller, wanted, model);
    const host = set.sharing.runningHostFor(controller, wanted, model);
    const input = { config, model: model as SlotModel, isModelRequested, cpuThreads: cpuThreads() };
    const view = planView(input, forecast);
    return host === null ? view : { ...view, shares_engine_of: host.config.name };
  }

  /**
   * Returns what a load of a slot with these settings and this model would need and evict. Nothing is loaded where the
   * engine of another slot would serve it. Throws like `AdmissionController.admit`.
   */
  forecast(controller: SlotController, config: SlotConfig, model: SlotModel | null): Forecast {
    const { set, admission } = this.#deps;
    const host = set.sharing.runningHostFor(controller, config, model);
    const forecast = admission.forecast(config, model, (host ?? controller).memoryUse);
    return host === null
      ? forecast
      : { ...forecast, view: { ...forecast.view, outcome: 'starts', evicts: [] } };
  }

  /** See `Slots.preview`. */
  preview(name: string): Preview {
    const { set, models } = this.#deps;
    const controller = set.getOrThrow(name);
    const host = set.sharing.hostOf(controller);
    const { config } = host;
    const forecast = () => this.#deps.admission.forecast(config, models.of(config), host.memoryUse);
    const refusal = controller.refusal('admin') ?? host.refusal('request');
    const preview = previewRequest(name, controller.record().state, refusal, forecast);
    return host === controller ? preview : { ...preview, sharesEngineOf: host.config.name };
  }

  /** See `Slots.settings`. */
  settings(name: string): SlotSettingsView {
    const { set, models } = this.#deps;
    const { config } = set.getOrThrow(name);
    return slotSettingsView(config, models.chosen(config), { ...set.folder, problems: this.#problems() });
  }

  /**
   * See `Slots.problems`. Returns the problems of the slot files, and settings that do not fit the models that the
   * slots would load.
   */
  problems(): readonly Problem[] {
    return this.#problems().map(inSlotsFolder);
  }

  #problems(): readonly Problem[] {
    const { set, models } = this.#deps;
    const voiceProblems = set.all().map(({ config }) => {
      const line = () => set.folder.lineOf(config.name, 'voice');
      return voiceProblem(config, () => models.of(config), line);
    });
    return [...set.folder.problems, ...voiceProblems.filter((problem) => problem !== null)];
  }

  /** See `Slots.fit`. */
  fit(model: SlotModel, planned?: PlannedReservations): ModelFitView {
    const { admission, withDefaultContext, hasProgram, speedOf } = this.#deps;
    const forecast = (config: SlotConfig, wanted: SlotModel) =>
      admission.forecast(config, withDefaultContext(config, wanted), null, planned);
    const fit = fitOf(model, forecast, model.experts != null && hasProgram('llama-server'));
    const speed = speedOf(model, fit);
    return speed == null ? fit : { ...fit, speed };
  }
}
