import type { ModelFitView } from '../contract/catalog.ts';
import type { SlotPlanView, SlotRecord, SlotSettingsBody, SlotSettingsView } from '../contract/slots.ts';
import type { Problem } from '../settings/problem.ts';
import type { Guard } from '../settings/revision.ts';
import type { PlannedReservations } from './admission/launch-plan.ts';
import type { Preview } from './admission/preview.ts';
import type { SlotConfig } from './config/slot-config.ts';
import type { SlotModel } from './engines/engine.ts';
import type { Lease, ReadyOptions } from './lifecycle/lease.ts';
import type { SlotEventListener } from './lifecycle/slot-events.ts';
import type { SlotView } from './slot-view.ts';

/**
 * The slots of this gateway (docs/spec/contract.md#slots). Names are those of slot files; an unknown one is
 * 404 `slot.not_found`.
 */
export interface Slots {
  /** Every slot by name, disabled ones too. Looking wakes nothing. */
  list(): SlotRecord[];
  /** The same for decisions about requests: what is looked at is that of the moment, and nothing is made for it. */
  views(): readonly SlotView[];
  get(name: string): SlotRecord | undefined;
  /** What the slot file asks for. */
  config(name: string): SlotConfig | undefined;
  /** What is wrong with the slot files. */
  problems(): readonly Problem[];
  /** Last lines of the output of the engine that runs, oldest first. */
  lines(name: string): readonly string[];
  /**
   * The right to send one request; throws GatewayError `slot.*`, or the signal's reason. A slot that is not there (any more) is
   * AskAgain: whoever chose it chooses anew.
   */
  ensureReady(name: string, options: ReadyOptions): Promise<Lease>;
  /**
   * The same at once, for a slot that serves and has room; null when `ensureReady` has to be asked. Throws when it holds another
   * model than the one that was named.
   */
  leaseNow(name: string, options: Pick<ReadyOptions, 'modelId'>): Lease | null;
  /** Resolves when it is ready; throws GatewayError `slot.*`. */
  load(name: string): Promise<SlotRecord>;
  /** Drains and stops; resolves when the end of the engine was seen. */
  unload(name: string): Promise<SlotRecord>;
  restart(name: string): Promise<SlotRecord>;
  /**
   * Drains the slot, gives it another model and loads that. `persist` (default true) writes the model into the slot
   * file first; nothing else in the file changes. Resolves when the new model is ready. Throws `model.not_found`,
   * `dispatch.capability_mismatch` and `slot.no_memory` before anything has changed; a load that fails afterwards leaves the
   * slot with the model that was asked for.
   */
  swap(name: string, to: { modelId: string; persist?: boolean }): Promise<SlotRecord>;
  /** What would become of a request for it now. Pure. */
  preview(name: string): Preview;
  /** What the slot is set to, key by key with where each value comes from. Pure. */
  settings(name: string): SlotSettingsView;
  /** What a load would start, where each value comes from, and the memory sum. Pure: nothing is started or unloaded. */
  plan(name: string, options?: { modelId?: string }): SlotPlanView;
  /**
   * Writes `slots/NAME.toml`. Throws 409 `slot.exists`, 422 `slot.invalid` with `details.fields`; FileWriteError and
   * ConfigEditError when the file can't be written (`configWrite` of the routes names them).
   */
  create(name: string, settings: SlotSettingsBody): Promise<SlotRecord>;
  /**
   * Changes keys of the slot file and leaves the rest of it as it is; a slot without a file gets one. A running engine
   * keeps its settings until its next start. Throws `slot.not_found`, what `guard` throws at the sight of the file, and as `create`.
   */
  change(name: string, settings: SlotSettingsBody, guard?: Guard): Promise<SlotRecord>;
  /**
   * Deletes the slot file, drains the slot and resolves when its engine has ended. Throws 404 `slot.not_found`, and 422
   * `slot.invalid` for a slot that has no file (the built-in one, an automatic one), and what `guard` throws.
   */
  remove(name: string, guard?: Guard): Promise<void>;
  /**
   * Whether a model that has no slot could be loaded now, as admission would decide, while what is planned `beside` it takes
   * its share first. Pure.
   */
  fit(model: SlotModel, planned?: PlannedReservations): ModelFitView;
  /** The most bytes that a model was seen to take here, by memory (`host`, or the id of a card). */
  measured(modelId: string): Record<string, number>;
  recordUsage(name: string, usage: { tokensPerSecond?: number }): void;
  /** Tells of loads, failures and evictions as they happen; the answer unsubscribes. */
  onEvent(listener: SlotEventListener): () => void;
  /** Reads the slot files anew; a broken one keeps its last good settings. */
  reload(): void;
  /** Refuses new requests, lets running ones end for `limitMs`, ends every engine. */
  stop(limitMs: number): Promise<void>;
}
