import type { SlotRecord, SlotStateName } from '../contract/slots.ts';
import type { SlotConfig } from './config/slot-file.ts';
import type { SlotModel } from './engines/engine.ts';
import { engineOf } from './engines/table.ts';
import type { Current } from './lifecycle/controller-deps.ts';
import { degradedBy } from './lifecycle/degraded.ts';
import type { Traffic } from './lifecycle/traffic.ts';

/** What every decision about a request looks at, in the words of the record. */
export type SlotGlance = Readonly<
  Pick<
    SlotRecord,
    | 'name'
    | 'enabled'
    | 'type'
    | 'engine'
    | 'runner'
    | 'model'
    | 'demo'
    | 'state'
    | 'device'
    | 'degraded'
    | 'context'
    | 'parallel'
    | 'active'
    | 'queued'
  >
> & {
  readonly vision?: true | undefined;
  /** The window that it runs with, or while it is not loaded the one that a load would give; null when none is known. */
  readonly window?: number | null | undefined;
};

/** Where a glance looks. */
export interface GlanceSource {
  config(): SlotConfig;
  state(): SlotStateName;
  model(): SlotModel | null;
  current(): Readonly<Current> | null;
  queued(): number;
  gpuNote(): string | null;
  readonly traffic: Readonly<Traffic>;
}

/**
 * A slot as decisions see it. It is not a copy: what is asked of it is looked up at that moment, so that a look at all
 * slots, which every request takes, makes nothing anew. Who keeps it sees the slot change.
 */
export class OwnerGlance implements SlotGlance {
  readonly #from: GlanceSource;
  /** The reason for being degraded, and what it was made from. */
  #degraded: { loaded: object; note: string | null; reason: string | null } | null = null;

  constructor(from: GlanceSource) {
    this.#from = from;
  }

  get name(): string {
    return this.#from.config().name;
  }
  get enabled(): boolean {
    return this.#from.config().enabled;
  }
  get type(): SlotRecord['type'] {
    return this.#served.type;
  }
  get engine(): string {
    return this.#served.engine;
  }
  get runner(): string {
    return this.#served.runner;
  }
  get vision(): true | undefined {
    return this.#served.vision ? true : undefined;
  }
  get model(): string | null {
    return this.#from.current()?.launch.modelId ?? this.#from.model()?.id ?? null;
  }
  get demo(): boolean {
    return this.#from.current()?.launch.demo ?? this.#from.model()?.demo ?? false;
  }
  get state(): SlotStateName {
    return this.#from.state();
  }
  get device(): string | null {
    return this.#from.current()?.loaded?.device ?? null;
  }
  get context(): number | null {
    return this.#from.current()?.loaded?.context || null;
  }
  get window(): number | null {
    const current = this.#from.current();
    if (current !== null) return current.loaded?.context || current.launch.context || null;
    const model = this.#from.model();
    const config = this.#from.config();
    return (model && engineOf(config.engine)?.context(config, model)) || null;
  }
  get parallel(): number {
    return this.#from.current()?.loaded?.parallel ?? this.#from.config().parallel;
  }
  get active(): number {
    return this.#from.traffic.active;
  }
  get queued(): number {
    return this.#from.queued();
  }
  get degraded(): string | null {
    const current = this.#from.current();
    const loaded = current?.loaded ?? null;
    if (current === null || loaded === null) return null;
    const note = this.#from.gpuNote();
    if (this.#degraded?.loaded !== loaded || this.#degraded.note !== note)
      this.#degraded = { loaded, note, reason: degradedBy(current.launch, loaded, note) };
    return this.#degraded.reason;
  }
  /** What decides where requests may go: the settings of the engine that runs, whatever its file says since. */
  get #served(): SlotConfig {
    return this.#from.current()?.config ?? this.#from.config();
  }
}
