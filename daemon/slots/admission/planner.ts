import type { ModelFitView } from '../../contract/catalog.ts';
import type { SlotPlanView, SlotSettingsView } from '../../contract/slots.ts';
import type { Problem } from '../../settings/problem.ts';
import type { SlotModels } from '../binding/slot-models.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import { inSlotsFolder } from '../config/slot-folder.ts';
import { slotSettingsView } from '../config/slot-settings.ts';
import { voiceProblem } from '../config/voice-problem.ts';
import type { SlotModel } from '../engines/engine.ts';
import type { SlotSet } from '../slot-set.ts';
import type { Loads } from './controller.ts';
import { fitOf } from './fit.ts';
import type { Beside } from './launch-plan.ts';
import { planView } from './plan.ts';
import { type Foreseen, foresee } from './preview.ts';

export interface OutlookParts {
  readonly set: SlotSet;
  readonly models: SlotModels;
  readonly loads: Loads;
  /** The model with this id for such a slot; throws when there is none that fits. */
  fitting(config: SlotConfig, modelId: string): SlotModel;
  /** Setting `cpuThreads`. */
  cpuThreads(): number;
}

/** What would become of slots, models and requests. Looking changes nothing. */
export class Outlook {
  readonly #parts: OutlookParts;

  constructor(parts: OutlookParts) {
    this.#parts = parts;
  }

  /** See `Slots.plan`. */
  plan(name: string, modelId: string | undefined): SlotPlanView {
    const { set, models, loads, fitting, cpuThreads } = this.#parts;
    const { config, holding } = set.need(name);
    const asked = modelId !== undefined;
    const model = asked ? fitting(config, modelId) : models.of(config);
    const forecast = loads.forecast(config, model, holding);
    return planView({ config, model: model as SlotModel, asked, cpuThreads: cpuThreads() }, forecast);
  }

  /** See `Slots.foresee`. */
  foresee(name: string): Foreseen {
    const { set, models, loads } = this.#parts;
    const owner = set.need(name);
    const forecast = () => loads.forecast(owner.config, models.of(owner.config), owner.holding);
    return foresee(name, owner.record().state, owner.refusal('request'), forecast);
  }

  /** See `Slots.settings`. */
  settings(name: string): SlotSettingsView {
    const { set, models } = this.#parts;
    const { config } = set.need(name);
    return slotSettingsView(config, models.chosen(config), { ...set.folder, problems: this.#problems() });
  }

  /** See `Slots.problems`: what the files say, and what does not fit the models that their slots would load. */
  problems(): readonly Problem[] {
    return this.#problems().map(inSlotsFolder);
  }

  #problems(): readonly Problem[] {
    const { set, models } = this.#parts;
    const unfit = set.all().map(({ config }) => {
      const line = () => set.folder.lineOf(config.name, 'voice');
      return voiceProblem(config, () => models.of(config), line);
    });
    return [...set.folder.problems, ...unfit.filter((problem) => problem !== null)];
  }

  /** See `Slots.fit`. */
  fit(model: SlotModel, beside?: Beside): ModelFitView {
    return fitOf(model, (config, wanted) => this.#parts.loads.forecast(config, wanted, null, beside));
  }
}
