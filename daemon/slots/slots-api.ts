import type { ModelFitView } from '../contract/catalog.ts';
import type {
  SlotPlanView,
  SlotRecord,
  SlotSettingsBody,
  SlotSettingsView,
  SlotWorkflowSettings,
} from '../contract/slots.ts';
import type { Problem } from '../settings/problem.ts';
import type { ChangeGuard } from '../settings/revision.ts';
import type { PlannedReservations } from './admission/launch-plan.ts';
import type { Preview } from './admission/preview.ts';
import type { SlotConfig } from './config/slot-config.ts';
import type { SlotModel } from './engines/engine.ts';
import type { EngineDiagnosis, FailedCall } from './lifecycle/controller-deps.ts';
import type { Lease, ReadyOptions } from './lifecycle/lease.ts';
import type { SlotEventListener } from './lifecycle/slot-events.ts';
import type { SlotView } from './slot-view.ts';

/**
 * The slots of this gateway (docs/spec/contract.md#slots). Names are those of slot files; an unknown one is
 * 404 `slot.not_found`.
 */
export interface Slots {
  /** Returns all slots by name, including disabled ones. Loads nothing. */
  list(): SlotRecord[];
  /** Returns live views of all slots for decisions about requests, without allocating. */
  views(): readonly SlotView[];
  get(name: string): SlotRecord | undefined;
  /** Returns the settings of a slot. */
  config(name: string): SlotConfig | undefined;
  /** Returns the problems of the slot files. */
  problems(): readonly Problem[];
  /** Returns the last lines of the running engine's output, oldest first. */
  lines(name: string): readonly string[];
  /**
   * Returns the right to send one request. Throws GatewayError `slot.*`, or the signal's reason. A slot that does
   * not exist (any longer) is a RedispatchError: the caller must choose again.
   */
  ensureReady(name: string, options: ReadyOptions): Promise<Lease>;
  /**
   * Returns a lease if the slot can serve immediately; null when `ensureReady` has to be called. Throws when it
   * holds another model than the named one.
   */
  leaseNow(name: string, options: Pick<ReadyOptions, 'modelId'>): Lease | null;
  /** Loads the slot. Resolves when it is ready. Throws GatewayError `slot.*`. */
  load(name: string): Promise<SlotRecord>;
  /** Drains and stops the engine. Resolves when its end was observed. */
  unload(name: string): Promise<SlotRecord>;
  restart(name: string): Promise<SlotRecord>;
  /**
   * Drains the slot, gives it another model and loads that. `persist` (default true) writes the model into the slot
   * file first; nothing else in the file changes. Resolves when the new model is ready. Throws `model.not_found`,
   * `dispatch.capability_mismatch` and `slot.no_memory` before any change. A load that fails afterwards leaves the
   * slot with the requested model.
   */
  swap(name: string, to: { modelId: string; persist?: boolean }): Promise<SlotRecord>;
  /** Returns what would happen to a request for it now. Pure. */
  preview(name: string): Preview;
  /** Returns the settings of a slot, each with its origin. Pure. */
  settings(name: string): SlotSettingsView;
  /**
   * Returns what a load would start, the origin of each value, and the memory sum. Pure: starts and unloads
   * nothing.
   */
  plan(name: string, options?: { modelId?: string }): SlotPlanView;
  /**
   * Writes `slots/NAME.toml`. Throws 409 `slot.exists`, 422 `slot.invalid` with `details.fields`, and
   * FileWriteError or ConfigEditError when the file cannot be written (`configWrite` of the routes names them).
   */
  create(name: string, settings: SlotSettingsBody): Promise<SlotRecord>;
  /**
   * Changes keys of the slot file and leaves the rest unchanged. A slot without a file gets one. A running engine
   * keeps its settings until its next start. Throws `slot.not_found`, what `guard` throws for the current file, and
   * the errors of `create`.
   */
  change(name: string, settings: SlotSettingsBody, guard?: ChangeGuard): Promise<SlotRecord>;
  /**
   * Writes a workflow of ComfyUI beside the slot file, and its name and inputs into the slot file. Throws 422
   * `slot.invalid` for a workflow without a prompt, an unknown input, a file that exists (without `replace`) and a slot
   * of another engine, and the errors of `change`.
   */
  setWorkflow(name: string, workflow: SlotWorkflowSettings): Promise<SlotRecord>;
  /**
   * Deletes the slot file, drains the slot and resolves when its engine has ended. Throws 404 `slot.not_found`, 422
   * `slot.invalid` for a slot without a file (a built-in or automatic one), and what `guard` throws.
   */
  remove(name: string, guard?: ChangeGuard): Promise<void>;
  /**
   * Returns whether a model without a slot could be loaded now, by the decision of admission, with the memory
   * `planned` for other loads taken first. Pure.
   */
  fit(model: SlotModel, planned?: PlannedReservations): ModelFitView;
  /** Returns the maximum bytes that a model took here, by pool (`host`, or the id of a card). */
  measured(modelId: string): Record<string, number>;
  /**
   * Returns what is known about a failed call to the engine of a slot. Checks an engine that did not respond at once,
   * for at most 2 s. Never rejects.
   */
  diagnose(name: string, call: FailedCall): Promise<EngineDiagnosis>;
  recordUsage(name: string, usage: { tokensPerSecond?: number }): void;
  /** Calls `listener` for loads, failures and evictions when they happen. Returns a function that unsubscribes. */
  onEvent(listener: SlotEventListener): () => void;
  /**
   * Reads again which models the slots should hold. Slot `restart` ends an engine that runs another model and loads its
   * own; it continues while that takes place.
   */
  followModels(restart: string): void;
  /** Reads the slot files again. An invalid file keeps its last valid settings. */
  reload(): void;
  /** Refuses new requests, lets running ones end for `limitMs`, and ends every engine. */
  stop(limitMs: number): Promise<void>;
}
