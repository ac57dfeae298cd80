import type { SlotRecord, SlotStateName } from '../contract/slots.ts';
import type { ImageSettings, SlotConfig } from './config/slot-config.ts';
import type { SlotModel } from './engines/engine.ts';
import { engineOf } from './engines/table.ts';
import type { EngineRun } from './lifecycle/controller-deps.ts';
import { degradedBy } from './lifecycle/degradations.ts';
import type { Traffic } from './lifecycle/traffic.ts';

/** A read-only view of a slot for decisions about requests, with the names of the record. */
export type SlotView = Readonly<
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
  /** The other slots that share its engine; absent for none. */
  readonly sharesWith?: readonly string[] | undefined;
  /** Active requests whose callers have left and that the engine cannot stop; absent means none. */
  readonly abandoned?: number | undefined;
  /** What the file of an image slot declares; null for nothing. */
  readonly imageSettings?: ImageSettings | null | undefined;
  /**
   * The context window that it runs with, or while it is not loaded the one that a load would use; null when
   * unknown.
   */
  readonly window?: number | null | undefined;
};

/** The source of a slot view. State, engine and queue are those of the slot whose engine serves it. */
export interface SlotViewSource {
  config(): SlotConfig;
  state(): SlotStateName;
  model(): SlotModel | null;
  current(): Readonly<EngineRun> | null;
  queued(): number;
  gpuNote(): string | null;
  sharesWith(): readonly string[] | undefined;
  traffic(): Readonly<Traffic>;
}

/**
 * A live view of a slot, not a snapshot: each property is read at the time of access, so that reading all slots for
 * each request allocates nothing. A caller that keeps the view sees later changes.
 */
export class LiveSlotView implements SlotView {
  readonly #source: SlotViewSource;
  /** The cached reason for being degraded, with its inputs. */
  #degraded: { loaded: object; note: string | null; config: SlotConfig; reason: string | null } | null = null;

  constructor(source: SlotViewSource) {
    this.#source = source;
  }

  get name(): string {
    return this.#source.config().name;
  }
  get enabled(): boolean {
    return this.#source.config().enabled;
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
  get sharesWith(): readonly string[] | undefined {
    return this.#source.sharesWith();
  }
  /** The current ones: no engine starts with them. */
  get imageSettings(): ImageSettings | null {
    return this.#source.config().imageSettings;
  }
  get model(): string | null {
    return this.#source.current()?.launch.modelId ?? this.#source.model()?.id ?? null;
  }
  get demo(): boolean {
    return this.#source.current()?.launch.demo ?? this.#source.model()?.demo ?? false;
  }
  get state(): SlotStateName {
    return this.#source.state();
  }
  get device(): string | null {
    return this.#source.current()?.loaded?.device ?? null;
  }
  get context(): number | null {
    return this.#source.current()?.loaded?.context || null;
  }
  get window(): number | null {
    const current = this.#source.current();
    if (current !== null) return current.loaded?.context || current.launch.context || null;
    const model = this.#source.model();
    const config = this.#source.config();
    return (model && engineOf(config.engine)?.context(config, model)) || null;
  }
  get parallel(): number {
    return this.#source.current()?.loaded?.parallel ?? this.#source.config().parallel;
  }
  get active(): number {
    return this.#source.traffic().active;
  }
  get abandoned(): number {
    return this.#source.traffic().abandoned;
  }
  get queued(): number {
    return this.#source.queued();
  }
  get degraded(): string | null {
    const current = this.#source.current();
    const loaded = current?.loaded ?? null;
    if (current === null || loaded === null) return null;
    const config = this.#source.config();
    const note = this.#source.gpuNote();
    const cached = this.#degraded;
    if (cached?.loaded === loaded && cached.note === note && cached.config === config) return cached.reason;
    const { device } = current.launch;
    const degraded = current.config.name === config.name ? current.launch.degraded : this.#planned(config);
    const reason = degradedBy({ device, degraded }, loaded, note);
    this.#degraded = { loaded, note, config, reason };
    return reason;
  }
  /** Returns what the slot itself requests and does not get from the engine of another slot. */
  #planned(config: SlotConfig): string | null {
    const model = this.#source.model();
    const plan = { threads: 0, queueLimit: 0 };
    return (model && engineOf(config.engine)?.plan({ config, model, ...plan }).degraded) ?? null;
  }
  /** The settings that decide where requests may go: those of the running engine, regardless of later changes of its file. */
  get #served(): SlotConfig {
    return this.#source.current()?.config ?? this.#source.config();
  }
}
