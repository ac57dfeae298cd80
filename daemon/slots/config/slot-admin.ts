import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from '../../contract/errors.ts';
import { slotNotFound } from '../../contract/not-found.ts';
import { SlotName, type SlotSettingsBody, type SlotWorkflowSettings } from '../../contract/slots.ts';
import { MAX_WORKFLOW_BYTES, mappedWorkflow, parseWorkflow, WorkflowError } from '../../contract/workflow.ts';
import { truncate } from '../../lib/text/truncate.ts';
import type { ChangeGuard } from '../../settings/revision.ts';
import type { Forecast } from '../admission/controller.ts';
import { typeObjection } from '../admission/launch-plan.ts';
import { REFRESH_RETRY_MS } from '../admission/queue.ts';
import type { Swaps } from '../binding/swaps.ts';
import type { SlotModel } from '../engines/engine.ts';
import { engineFor, slotObjection } from '../engines/table.ts';
import { disabledError, noMemoryError } from '../refusals.ts';
import type { SlotConfig } from './slot-config.ts';
import type { SlotFiles } from './slot-files.ts';
import { MAX_SLOTS } from './slot-folder.ts';
import { checkedSlot, editSlotText, editWorkflow, invalidSlot, workflowText } from './slot-text.ts';

export interface SlotAdminDeps {
  readonly files: SlotFiles;
  readonly swaps: Swaps;
  /** Returns the settings of an existing slot. */
  config(slot: string): SlotConfig | undefined;
  /** Returns the model that the file of a slot names; null when it names none. */
  modelInFile(slot: string): string | null;
  /** Returns the slots whose file exists but is invalid. */
  broken(): ReadonlySet<string>;
  /** Returns the number of slots. */
  count(): number;
  /** Reads the slot files again. */
  reload(): void;
  /** Returns the model with this id for such a slot; null when there is none. */
  modelNamed(config: SlotConfig, id: string): SlotModel | null;
  forecast(config: SlotConfig, model: SlotModel): Forecast;
  /** Resolves when a slot whose file was deleted has drained and its engine has ended. */
  drained(slot: string): Promise<void>;
}

/** Changes that administrators make to slots: their files and their models. */
export class SlotAdmin {
  readonly #deps: SlotAdminDeps;

  constructor(deps: SlotAdminDeps) {
    this.#deps = deps;
  }

  /** See `Slots.create`. */
  async create(name: string, settings: SlotSettingsBody): Promise<void> {
    const { config, broken, count, files, reload } = this.#deps;
    if (!SlotName.safeParse(name).success) {
      const reason = 'must contain only a-z, 0-9, - and _, at most 32 characters';
      throw invalidSlot(name, [{ path: 'name', reason }]);
    }
    const exists = () => new GatewayError('slot.exists', { details: { slot: name } });
    if (config(name) !== undefined || broken().has(name)) throw exists();
    if (count() >= MAX_SLOTS) {
      throw invalidSlot(name, [{ path: 'name', reason: `there are already ${MAX_SLOTS} slots` }]);
    }
    await files.write(name, (text) => {
      if (text !== null) throw exists();
      return checkedText(name, '', settings);
    });
    reload();
  }

  /** See `Slots.change`. */
  async change(name: string, settings: SlotSettingsBody, guard?: ChangeGuard): Promise<void> {
    const { config, broken, files, reload, swaps } = this.#deps;
    const known = config(name);
    if (known === undefined && !broken().has(name)) throw slotNotFound(name);
    let isFirst = false;
    const edit = (text: string | null) => {
      isFirst = text === null;
      const first = isFirst && known !== undefined ? this.#settingsOf(known) : {};
      return checkedText(name, text ?? '', { ...first, ...settings });
    };
    await files.write(name, edit, guard);
    if (isFirst && known?.auto && settings.model === undefined) swaps.keepAboveNewFile(name);
    reload();
  }

  /** See `Slots.setWorkflow`. */
  async setWorkflow(name: string, { file, workflow, inputs, replace }: SlotWorkflowSettings): Promise<void> {
    const { config, broken, files, reload } = this.#deps;
    if (config(name) === undefined && !broken().has(name)) throw slotNotFound(name);
    const bytes = Buffer.from(workflowText(workflow));
    const invalid = (path: string, reason: string) => invalidSlot(name, [{ path, reason }]);
    if (bytes.length > MAX_WORKFLOW_BYTES) throw invalid('workflow', 'is larger than 2 MiB');
    try {
      mappedWorkflow(parseWorkflow(bytes.toString()), inputs);
    } catch (cause) {
      throw cause instanceof WorkflowError ? invalid('workflow', cause.message) : cause;
    }
    const edit = (text: string | null) => {
      const edited = editWorkflow(text ?? '', file, inputs);
      checkedSlot(name, edited, slotObjection);
      return edited;
    };
    // Refuses a slot of another engine before the workflow is written.
    await files.inspect(name, edit);
    if (!(await files.writeWorkflow(file, bytes, replace)))
      throw invalid('file', 'exists already; choose another name, or replace it');
    await files.write(name, edit);
    reload();
  }

  /** See `Slots.remove`. */
  async remove(name: string, guard?: ChangeGuard): Promise<void> {
    const { config, broken, files, reload, drained } = this.#deps;
    const known = config(name);
    if (known === undefined && !broken().has(name)) throw slotNotFound(name);
    if (!(await files.remove(name, guard))) {
      const reason = known?.auto
        ? 'the slot belongs to its model, not to a file; disable it or remove the model'
        : 'the slot has no file';
      throw invalidSlot(name, [{ path: 'name', reason }]);
    }
    reload();
    await drained(name);
  }

  /**
   * Makes `modelId` the model of the slot, from its next start on; see `Slots.swap`. Returns the id of the model.
   */
  async setModel(name: string, modelId: string, persist: boolean): Promise<string> {
    const { modelInFile, files, reload, swaps } = this.#deps;
    const { known, model, forecast } = await this.#currentForecast(name, modelId);
    if (forecast.view.outcome === 'refused') throw noMemoryError(name, forecast.view.sum);
    if (persist) {
      await files.write(name, (text) =>
        checkedText(name, text ?? '', { ...(text === null ? this.#settingsOf(known) : {}), model: model.id }),
      );
    }
    swaps.set(name, model.id, persist ? model.id : modelInFile(name), known.auto ? known.model : null);
    reload();
    return model.id;
  }

  /**
   * Returns the forecast of a load of this model by current figures. While figures are being read it retries, at
   * most for the duration of one hardware probe.
   */
  async #currentForecast(name: string, modelId: string) {
    for (;;) {
      const known = this.#deps.config(name);
      if (known === undefined) throw slotNotFound(name);
      if (!known.enabled) throw disabledError(name);
      const model = this.compatibleModel(known, modelId);
      const forecast = this.#deps.forecast({ ...known, model: model.id }, model);
      if (!forecast.plan.headroom.refreshing) return { known, model, forecast };
      await pause(REFRESH_RETRY_MS);
    }
  }

  /** Returns the settings of an automatic slot for a slot file, without a temporary swap. */
  #settingsOf({ auto, name, type, engine, model }: SlotConfig): SlotSettingsBody {
    if (!auto) return {};
    const own = this.#deps.swaps.automaticModelOf(name) ?? model;
    return engine === engineFor(type) ? { type, model: own } : { type, engine, model: own };
  }

  /**
   * Returns the model with this id if such a slot can serve it. Throws `model.not_found` or
   * `dispatch.capability_mismatch`.
   */
  compatibleModel(config: SlotConfig, modelId: string): SlotModel {
    const model = this.#deps.modelNamed(config, modelId);
    if (model === null)
      throw new GatewayError('model.not_found', { details: { model: truncate(modelId, 256) } });
    const objection = typeObjection(config, model);
    if (objection === null) return model;
    throw new GatewayError('dispatch.capability_mismatch', {
      message: objection,
      details: { slot: config.name, model: model.id },
    });
  }
}

function checkedText(name: string, text: string, settings: SlotSettingsBody): string {
  const edited = editSlotText(text, settings);
  checkedSlot(name, edited, slotObjection);
  return edited;
}
