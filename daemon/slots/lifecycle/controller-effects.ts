import type { Log } from '../../lib/log.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Loads } from '../admission/controller.ts';
import { MemorySample } from '../admission/memory-sample.ts';
import type { SlotModels } from '../binding/slot-models.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { Engine } from '../engines/engine.ts';
import { engineOf } from '../engines/table.ts';
import type { Runners } from '../runners/table.ts';
import type { SlotSet } from '../slot-set.ts';
import type { Announcer } from './change-notifier.ts';
import type { Clock } from './clock.ts';
import type { AdmitOutcome, OwnerParts } from './controller-deps.ts';
import type { KeptEngines } from './engine-adoption.ts';
import { type AskEngine, runChecks } from './health.ts';
import { signOfLife } from './liveness-probe.ts';
import type { SlotWorks } from './slot-events.ts';
import type { WatchPace } from './watch.ts';

export interface OwnerEffectsParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<Settings, 'value'>;
  readonly runners: Runners;
  readonly ask: AskEngine;
  readonly watchPace: WatchPace | undefined;
  readonly kept: Pick<KeptEngines, 'started'>;
  readonly set: Pick<SlotSet, 'leaves'>;
  readonly models: Pick<SlotModels, 'of'>;
  readonly loads: Pick<Loads, 'admit' | 'leave' | 'changed' | 'ready' | 'served' | 'ended'>;
  readonly works: Pick<SlotWorks, 'heardWith'>;
  readonly announcer: Pick<Announcer, 'changed'>;
  /** Values that no record shows. */
  secrets(): readonly string[];
  /** Why this machine's GPU may have been left out; null when it has none. */
  gpuNote(): string | null;
}

/** What the decisions of owners do in this gateway: memory is asked for, engines are started and asked, changes are told. */
export class OwnerEffects {
  readonly #parts: OwnerEffectsParts;
  readonly #sample: MemorySample;
  #gpuNote: string | null = null;

  constructor(parts: OwnerEffectsParts) {
    this.#parts = parts;
    this.#sample = new MemorySample(parts.clock);
  }

  /** The hardware was looked at: what it says of the GPU is taken up by engines that run already, too. */
  noteGpu(): void {
    this.#gpuNote = this.#parts.gpuNote();
  }

  /** The effects of the owner of this slot. */
  of(name: string): OwnerParts {
    const { clock, log, settings, ask, watchPace, kept, runners, models, loads, works } = this.#parts;
    return {
      ...{ clock, log, ask, watchPace },
      queueMax: () => settings.value('queueMax'),
      loadWaitMs: (stream) => settings.value(stream ? 'loadWaitStreamS' : 'loadWaitS') * 1000,
      model: (config) => models.of(config),
      admit: (config, asked) => this.#admit(config, asked),
      leaveLine: () => loads.leave(name),
      ...works.heardWith(loads),
      start: (_, launch) => {
        kept.started(name);
        return runners[launch.how.runner].start(launch);
      },
      check: (config, launch, loaded, signal) =>
        runChecks(ask, loaded, engineIn(config).checks(launch), signal),
      signOfLife: (config, launch) => signOfLife(engineIn(config), launch),
      gpuNote: () => this.#gpuNote,
      secrets: () => this.#parts.secrets(),
      residentBytes: (pid) => this.#sample.of(pid)?.resident ?? null,
      changed: () => {
        this.#parts.announcer.changed(name);
        loads.changed();
      },
    };
  }

  /** A slot that was made anew waits for itself until the engine of the removed one has ended, whatever memory is free. */
  #admit(config: SlotConfig, asked: boolean): AdmitOutcome {
    const { set, loads } = this.#parts;
    return set.leaves(config.name) ? { kind: 'wait', for: [config.name] } : loads.admit(config, asked);
  }
}

/** The engine of a slot file, which names one that is there. */
const engineIn = ({ engine }: SlotConfig): Engine => engineOf(engine) as Engine;
