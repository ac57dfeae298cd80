import { LRUCache } from 'lru-cache';
import type { ModelFitView, PurposeName } from '../contract/catalog.ts';
import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { SetupApplyBody, SetupView } from '../contract/setup.ts';
import type { Hardware } from '../hardware/hardware.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import { installedFrom, type KnownModel } from '../models/catalog.ts';
import type { Catalog } from '../models/catalog-store.ts';
import { freeBytesForModels, KEEP_FREE_BYTES } from '../models/pulls/disk-space.ts';
import type { Pulls } from '../models/pulls/pulls.ts';
import type { Registry } from '../models/registry.ts';
import { unservedFormat } from '../models/unusable-formats.ts';
import type { Settings } from '../settings/settings.ts';
import type { SlotModel } from '../slots/engines/engine.ts';
import type { Slots } from '../slots/slots.ts';
import type { Store } from '../store/store.ts';
import { dropInFor } from './drop-in.ts';
import { OtherTools } from './other-tools.ts';
import { SLOT_OF_PURPOSE } from './purpose-slots.ts';
import { BIND_HOSTS, isRefused, type ReachChoice, reachView } from './reach.ts';
import type { FolderView } from './read-folders.ts';
import {
  type ModelSet,
  type PlannedMemory,
  quickStart,
  type RecommendInput,
  recommend,
} from './recommend.ts';
import { SetupJobs } from './setup-jobs.ts';
import { isTouched, type SetupState, STATE_KEY } from './setup-state.ts';
import { StoredSetupState } from './stored-state.ts';
import { type WantedModel, wantedModels } from './wanted-models.ts';

export interface SetupDeps {
  readonly settings: Settings;
  readonly store: Pick<Store, 'keyValue'>;
  readonly log: Log;
  readonly bus: EventBus<GatewayEvents>;
  readonly hardware: Hardware;
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly pulls: Pulls;
  readonly slots: Slots;
  /** Like `slots.fit`, by the total memory. */
  readonly fit: (model: SlotModel, planned: PlannedMemory) => ModelFitView;
  /** Waits for the measurement of this machine, within limits. Resolves with whether its speed is known. */
  readonly speedKnown: () => Promise<boolean>;
  readonly hasAdminKey: () => boolean;
  readonly enforced: () => boolean;
  readonly listener: () => { readonly bindHost: string; readonly port: number };
  /** Whether systemd owns the socket, so that no setting decides the address. */
  readonly hasInheritedSocket: boolean;
  readonly isOnTheInternet: (bindHost: string) => Promise<boolean>;
  readonly networkAddresses: () => readonly string[];
  /** Runs a change of the configuration and names its failure. */
  readonly write: <T>(change: () => Promise<T>) => Promise<T>;
}

/**
 * The first run of a gateway (docs/spec/contract.md#route-setup): hardware found, models that fit, choice of
 * bind address. It never touches a key.
 */
export interface Setup {
  view(): Promise<SetupView>;
  /** Scans the machine and its folders again. */
  probe(): Promise<SetupView>;
  /** Throws `request.invalid`, `setup.exposed` and what writing the configuration throws. */
  apply(body: SetupApplyBody): Promise<SetupView>;
  close(): void;
}

/** How long a set and a scan are cached, so that the user sees a stable set (ms). */
const CACHE_MS = 5 * 60_000;

class FirstRun implements Setup {
  readonly #options: SetupDeps;
  readonly #state: StoredSetupState;
  readonly #jobs: SetupJobs;
  readonly #sets = new LRUCache<string, ModelSet>({ max: 8, ttl: CACHE_MS });
  readonly #tools: OtherTools;

  constructor(options: SetupDeps) {
    this.#options = options;
    const { keyValue } = options.store;
    this.#state = new StoredSetupState({
      get: () => keyValue.get(STATE_KEY),
      set: (text) => keyValue.set(STATE_KEY, text),
    });
    this.#tools = new OtherTools({ ...options, state: this.#state });
    this.#jobs = new SetupJobs({
      ...options,
      state: this.#state,
      installed: (name) => {
        const known = options.catalog.find(name);
        return known === undefined ? null : this.#installed(known);
      },
    });
  }

  async view(): Promise<SetupView> {
    const { settings, registry, hardware, hasAdminKey, enforced, listener } = this.#options;
    const { state } = this.#state;
    const realModel = registry
      .list()
      .some((model) => !model.demo && model.type === 'llm' && unservedFormat(model) === null);
    const hasKey = hasAdminKey();
    const machine = hardware.view();
    const folders = await this.#tools.folders();
    return {
      has_admin_key: hasKey,
      require_auth: enforced(),
      guard_remote_admin: settings.value('guardRemoteAdmin'),
      bind_host: listener().bindHost,
      real_model: realModel,
      pending: !state.finished && (isTouched(state) || (!realModel && !hasKey)),
      finished: state.finished,
      steps: stepsOf(state, hasKey),
      hardware: machine && { host: machine.host, devices: machine.devices, pools: machine.pools },
      set: machine === null ? null : await this.#set(),
      work: state.work.filter((work) => this.#isShown(work)).map((work) => this.#jobView(work)),
      folders,
      drop_in: dropInFor(folders, this.#options.settings.environment('STATE_DIRECTORY') !== undefined),
      reach: await this.#reach(),
    };
  }

  async probe(): Promise<SetupView> {
    this.#sets.clear();
    this.#tools.forget();
    await this.#options.hardware.probe();
    return this.view();
  }

  async apply(body: SetupApplyBody): Promise<SetupView> {
    const models = body.models === undefined ? null : wantedModels(body.models, this.#options.catalog);
    const folders = body.folders === undefined ? null : await this.#tools.requireFound(body.folders);
    if (body.reach !== undefined) await this.#bind(body.reach);
    if (folders !== null) await this.#use(folders);
    if (models !== null) await this.#begin(models);
    const { state } = this.#state;
    const steps = { ...state.steps, ...body.steps };
    this.#state.change({ steps, ...(body.finished === undefined ? {} : { finished: body.finished }) });
    return this.view();
  }

  close(): void {
    this.#jobs.close();
  }

  #installed(known: KnownModel): string | null {
    return installedFrom(known, this.#options.registry.views());
  }

  async #begin(wanted: readonly WantedModel[]): Promise<void> {
    const { items, chat } = (await this.#set()) ?? { items: [], chat: [] };
    this.#jobs.begin(
      wanted.map(({ known, slot }) => {
        const item = [...items, ...chat.map(({ item: choice }) => choice)].find(
          (one) => one.slot === slot && one.model === known.model,
        );
        const context = item?.smaller_window ? item.context : null;
        return { slot, model: known.model, name: known.name, context };
      }),
    );
    this.#sets.clear();
  }

  /** Slots that setup does not fill: those with another model, and those whose setup job is running or done. */
  #filled(): Set<string> {
    const quick = this.#options.catalog.find(this.#options.catalog.quickStart());
    const quickId = quick === undefined ? null : this.#installed(quick);
    const real = this.#options.slots.list().filter(({ auto, demo, model, name }) => {
      const named = this.#options.slots.config(name)?.model ?? null;
      // The model for a first try is no choice: a better one can follow.
      return !demo && model !== null && model !== quickId && (!auto || named !== 'espeak-ng');
    });
    const ownWork = this.#state.state.work.filter(
      (work) => this.#jobs.isCurrent(work) && (work.model !== quick?.model || work.phase !== 'ready'),
    );
    return new Set([...real.map(({ name }) => name), ...ownWork.map(({ slot }) => slot)]);
  }

  async #set(): Promise<SetupView['set']> {
    const { hardware, catalog, fit, speedKnown } = this.#options;
    const view = hardware.view();
    if (view === null) return null;
    const isSpeedKnown = await speedKnown();
    const filledSlots = this.#filled();
    const key = `${catalog.asOf()} ${view.probed_at} ${isSpeedKnown} ${[...filledSlots].sort().join(' ')}`;
    const free = await this.#diskFree();
    const kindOf = (pool: string) => view.pools.find(({ id }) => id === pool)?.kind;
    const known = this.#sets.get(key);
    const input: RecommendInput = {
      fit,
      isHostMemory: (pool) => kindOf(pool) === 'host',
      isUnified: (pool) => kindOf(pool) === 'unified',
      entries: catalog.entries(),
      preferred: catalog.preferred(),
      cores: hardware.coresPhysical(),
      diskBytes: free === null ? null : Math.max(0, free - KEEP_FREE_BYTES),
      filledSlots,
      installed: (each) => this.#installed(each),
    };
    const made = known ?? recommend(input);
    const quick = filledSlots.has(SLOT_OF_PURPOSE.chat) ? null : quickStart(input, catalog.quickStart());
    if (known === undefined) this.#sets.set(key, made);
    const missing = made.items.filter(({ installed }) => installed === null);
    return {
      as_of: catalog.asOf(),
      items: [...made.items],
      chat: [...made.chat],
      quick_start: quick?.installed === null ? quick : null,
      left_out: made.leftOut.filter(({ purpose }) => !this.#isUnderWay(purpose)),
      download_bytes: missing.reduce((all, item) => all + item.size_bytes, 0),
      disk_free_bytes: free,
      disk_kept_bytes: KEEP_FREE_BYTES,
    };
  }

  #isUnderWay(purpose: PurposeName): boolean {
    const work = purpose === 'images' ? undefined : this.#state.job(SLOT_OF_PURPOSE[purpose]);
    return work !== undefined && this.#jobs.isCurrent(work);
  }

  /** A completed job whose model was removed is not shown. */
  #isShown(work: SetupState['work'][number]): boolean {
    return work.phase === 'failed' || this.#jobs.isCurrent(work);
  }

  #diskFree(): Promise<number | null> {
    return freeBytesForModels(this.#options.settings.folders.state).catch(() => null);
  }

  #jobView({ slot, model, name, phase, pull, error }: SetupState['work'][number]): SetupView['work'][number] {
    const record = this.#options.slots.get(slot);
    const job = this.#options.pulls.list().find(({ id }) => id === pull);
    return {
      slot,
      model,
      name,
      phase,
      pull: job ?? null,
      slot_state: record?.state ?? null,
      progress: record?.progress ?? null,
      error,
    };
  }

  async #use(folders: readonly FolderView[]): Promise<void> {
    await this.#tools.use(folders);
    this.#sets.clear();
  }

  async #exposed(): Promise<boolean> {
    if (this.#options.settings.value('allowPublicWithoutAuth')) return false;
    return this.#options.isOnTheInternet(BIND_HOSTS.network);
  }

  async #bind(choice: ReachChoice): Promise<void> {
    const { settings, enforced, write } = this.#options;
    if (isRefused(choice, { requireAuth: enforced(), isExposed: await this.#exposed() }))
      throw new GatewayError('setup.exposed');
    await write(() => settings.persist('bindHost', BIND_HOSTS[choice]));
  }

  async #reach(): Promise<SetupView['reach']> {
    const { settings, listener, hasInheritedSocket, enforced, networkAddresses } = this.#options;
    return reachView({
      bindHost: settings.resolve('bindHost'),
      listener: listener(),
      hasInheritedSocket,
      requireAuth: enforced(),
      isExposed: await this.#exposed(),
      addresses: networkAddresses(),
    });
  }
}

const stepsOf = ({ steps }: SetupState, hasKey: boolean): SetupView['steps'] => [
  { id: 'models', state: steps.models },
  { id: 'reach', state: steps.reach },
  { id: 'key', state: hasKey ? 'done' : steps.key === 'done' ? 'open' : steps.key },
];

/** Creates the setup. Jobs of an earlier run continue. */
export function createSetup(options: SetupDeps): Setup {
  return new FirstRun(options);
}
