import type { Log } from '../../lib/log.ts';
import type { Settings } from '../../settings/settings.ts';
import type { AdmissionController } from '../admission/controller.ts';
import { MemorySample } from '../admission/memory-sample.ts';
import type { SlotModels } from '../binding/slot-models.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { Engine } from '../engines/engine.ts';
import { engineOf } from '../engines/table.ts';
import type { SavedStates } from '../kv-cache/slot-conversations.ts';
import type { Runners } from '../runners/table.ts';
import type { SlotSet } from '../slot-set.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import type { Clock } from './clock.ts';
import type { AdmissionOutcome, SlotControllerDeps } from './controller-deps.ts';
import type { EngineAdoption } from './engine-adoption.ts';
import { type QueryEngine, runChecks } from './health.ts';
import { livenessProbe } from './liveness-probe.ts';
import type { SlotEvents } from './slot-events.ts';
import type { WatchPace } from './watch.ts';

export interface ControllerEffectsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<Settings, 'value'>;
  readonly runners: Runners;
  readonly query: QueryEngine;
  readonly watchPace: WatchPace | undefined;
  readonly adoption: Pick<EngineAdoption, 'started'>;
  readonly set: Pick<SlotSet, 'isLeaving' | 'get' | 'sharing'>;
  readonly models: Pick<SlotModels, 'of'>;
  readonly admission: Pick<
    AdmissionController,
    'admit' | 'withdraw' | 'changed' | 'ready' | 'serving' | 'served' | 'ended'
  >;
  readonly events: Pick<SlotEvents, 'lifecycleHooks'>;
  readonly changeNotifier: Pick<ChangeNotifier, 'changed'>;
  readonly savedStates?: SavedStates | undefined;
  /** Values that no record may contain. */
  secrets(): readonly string[];
  /** Returns why this machine's GPU may be unused; null when there is no reason. */
  gpuNote(): string | null;
}

/**
 * The effects of the slot controllers in this gateway: request memory, start and query engines, notify of changes.
 */
export class ControllerEffects {
  readonly #deps: ControllerEffectsDeps;
  readonly #sample: MemorySample;
  #gpuNote: string | null = null;

  constructor(deps: ControllerEffectsDeps) {
    this.#deps = deps;
    this.#sample = new MemorySample(deps.clock);
  }

  /** Reads the GPU note again after a hardware probe. Engines that already run use it too. */
  refreshGpuNote(): void {
    this.#gpuNote = this.#deps.gpuNote();
  }

  /** Returns the dependencies of the controller of this slot. */
  of(name: string): SlotControllerDeps {
    const { clock, log, settings, query, watchPace, adoption, runners, models, admission, events } =
      this.#deps;
    return {
      ...{ clock, log, query, watchPace },
      queueMax: () => settings.value('queueMax'),
      loadWaitMs: (stream) => settings.value(stream ? 'loadWaitStreamS' : 'loadWaitS') * 1000,
      model: (config) => models.of(config),
      admit: (config, isRequested) => this.#admit(config, isRequested),
      withdrawLoad: () => admission.withdraw(name),
      ...events.lifecycleHooks(admission),
      start: (_, launch) => {
        adoption.started(name);
        return runners[launch.how.runner].start(launch);
      },
      check: (config, launch, loaded, signal) =>
        runChecks(query, loaded, engineIn(config).checks(launch), signal),
      livenessProbe: (config, launch) => livenessProbe(engineIn(config), launch),
      gpuNote: () => this.#gpuNote,
      secrets: () => this.#deps.secrets(),
      savedStates: this.#deps.savedStates,
      residentBytes: (pid) => this.#sample.of(pid)?.resident ?? null,
      changed: () => {
        this.#notify(name);
        admission.changed();
      },
    };
  }

  /** Notifies of a change of a slot, and of the slots whose records show its engine too. */
  #notify(name: string): void {
    const { set, changeNotifier } = this.#deps;
    changeNotifier.changed(name);
    const controller = set.get(name);
    if (controller === undefined) return;
    for (const { config } of set.sharing.peersOf(controller)) changeNotifier.changed(config.name);
  }

  /**
   * Makes a re-created slot wait until the engine of the removed slot of the same name has ended, however much
   * memory is free.
   */
  #admit(config: SlotConfig, isRequested: boolean): AdmissionOutcome {
    const { set, admission } = this.#deps;
    return set.isLeaving(config.name)
      ? { kind: 'wait', for: [config.name] }
      : admission.admit(config, isRequested);
  }
}

/** Returns the engine of a slot. A valid slot file names an existing engine. */
const engineIn = ({ engine }: SlotConfig): Engine => engineOf(engine) as Engine;
