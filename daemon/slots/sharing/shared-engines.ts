import { GatewayError } from '../../contract/errors.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { SlotModel } from '../engines/engine.ts';
import type { EngineRun } from '../lifecycle/controller-deps.ts';
import type { EngineSharing, SlotController } from '../lifecycle/slot-controller.ts';
import type { LoadTrigger } from '../lifecycle/waiters.ts';
import { movedError, RedispatchError } from '../refusals.ts';
import { chooseHost, type EngineStanding } from './choose-host.ts';
import { engineKey } from './engine-key.ts';
import { type StayTerms, sharedTerms } from './shared-terms.ts';

const RUNNING: ReadonlySet<EngineStanding> = new Set(['loaded', 'loading']);
/** Standings with an engine. */
const PRESENT: ReadonlySet<EngineStanding> = new Set(['loaded', 'loading', 'leaving']);
/** Standings of a host that an unload of one of its users does not end. */
const SHARED: ReadonlySet<EngineStanding> = new Set(['loaded', 'loading', 'waiting']);
/** How often a load is requested again, because another slot became the host meanwhile. */
const MAX_LOADS = 5;
const NONE: readonly SlotController[] = [];

export interface SharedEnginesDeps {
  /** Returns the controllers of all slots. */
  all(): readonly SlotController[];
  /** Called once when a slot begins to use the running engine of another slot. */
  onJoined(guest: string, engine: Readonly<EngineRun>): void;
}

/**
 * Slots with equal engine keys use one engine: that of the slot which loaded first, the host. The others are its guests:
 * their controllers stay at rest, and their requests wait in the queue of the host. Nothing is stored about who shares with
 * whom: it follows from the current settings and states each time.
 */
export class SharedEngines implements EngineSharing {
  readonly #all: () => readonly SlotController[];
  readonly #onJoined: SharedEnginesDeps['onJoined'];
  /** For each slot that has them, the other slots with its engine key; null after a change. */
  #peers: ReadonlyMap<SlotController, readonly SlotController[]> | null = null;
  /** The guests that use or wait for (null) the engine of a host, until it is ended or they are unloaded or changed. */
  readonly #guests = new Map<SlotController, Map<SlotController, Readonly<EngineRun> | null>>();
  /** The requests that wait for the engine of a host, with the slot that they requested. */
  readonly #callers = new Set<Readonly<{ host: SlotController; slot: SlotController }>>();
  /** Hosts that were unloaded while guests used their engine. */
  readonly #unloadedHosts = new Set<SlotController>();

  constructor({ all, onJoined }: SharedEnginesDeps) {
    this.#all = all;
    this.#onJoined = onJoined;
  }

  /** The settings or the model of a slot were changed, or the set of slots. */
  keysChanged(): void {
    this.#peers = null;
  }

  /** Returns the slot whose engine serves a slot: mostly itself. */
  hostOf(controller: SlotController): SlotController {
    const peers = this.peersOf(controller);
    if (peers.length === 0) return controller;
    const { standing } = controller;
    if (RUNNING.has(standing)) return controller;
    // The usual case, which requests read many times.
    const loaded = peers.find((other) => other.standing === 'loaded' && canServe(other));
    if (loaded !== undefined) return loaded;
    const others = peers.filter(canServe);
    const at = chooseHost(
      standing,
      others.map((other) => other.standing),
    );
    return others[at] ?? controller;
  }

  /** Returns the other slots with the same engine key; none for a slot that was removed. */
  peersOf(controller: SlotController): readonly SlotController[] {
    this.#peers ??= peersByKey(this.#all());
    return this.#peers.get(controller) ?? NONE;
  }

  /**
   * Returns the other slot whose running engine would serve a slot that had these settings and this model; null for none.
   * Null too when its own engine does.
   */
  runningHostFor(
    controller: SlotController,
    config: SlotConfig,
    model: SlotModel | null,
  ): SlotController | null {
    const key = engineKey(config, model);
    if (key === null) return null;
    if (RUNNING.has(controller.standing) && controller.runningKey === key) return null;
    const fits = (other: SlotController) =>
      other !== controller && other.engineKey === key && RUNNING.has(other.standing) && canServe(other);
    return this.#all().find(fits) ?? null;
  }

  /** Returns the result of `wait`, a request that waits for the engine of a host. Meanwhile its slot counts as a user. */
  async whileWaiting<T>(host: SlotController, slot: SlotController, wait: () => Promise<T>): Promise<T> {
    const caller = { host, slot };
    this.#callers.add(caller);
    try {
      return await wait();
    } finally {
      this.#callers.delete(caller);
      if (this.#unloadedHosts.has(host)) this.unloadUnused();
    }
  }

  /** Records that a slot uses the engine of its host, which stays loaded as long as one of its users needs it. */
  use(host: SlotController, controller: SlotController): void {
    for (const [other, guests] of this.#guests) if (other !== host) guests.delete(controller);
    if (host === controller) {
      if (this.#unloadedHosts.delete(host)) host.restartIdleTime();
      return;
    }
    const engine = host.standing === 'loaded' ? host.current : null;
    const guests = this.#guests.get(host) ?? new Map<SlotController, Readonly<EngineRun> | null>();
    if (guests.get(controller) === engine) return;
    this.#guests.set(host, guests.set(controller, engine));
    if (engine === null) return;
    host.restartIdleTime();
    this.#onJoined(controller.config.name, engine);
  }

  /** A slot stops using the engine of another slot, because it was changed or unloaded. */
  leave(controller: SlotController): void {
    for (const guests of this.#guests.values()) guests.delete(controller);
  }

  /** Returns the slots that use the engine of a host as guests, or did until the settings of the host were changed. */
  earlierGuestsOf(host: SlotController): SlotController[] {
    return [...(this.#guests.get(host)?.keys() ?? [])];
  }

  /** Returns the guests that use the engine of a host or wait for it. */
  guestsOf(host: SlotController): SlotController[] {
    const peers = this.peersOf(host);
    if (peers.length === 0) return [];
    const guests = new Set(this.#guests.get(host)?.keys());
    for (const caller of this.#callers) if (caller.host === host) guests.add(caller.slot);
    return [...guests].filter((guest) => peers.includes(guest) && this.hostOf(guest) === host);
  }

  /** The engine of a host has ended on purpose. After a failure its users stay recorded for the next attempt. */
  ended(host: SlotController): void {
    this.#guests.delete(host);
    this.#unloadedHosts.delete(host);
  }

  /** Returns how long the engine of a host stays loaded, by the slots that use it. */
  termsOf(host: SlotController): StayTerms {
    const [first, ...rest] = this.guestsOf(host).map(({ config }) => config);
    if (first === undefined) return host.config;
    return sharedTerms(this.#isUsedByItself(host) ? [host.config, first, ...rest] : [first, ...rest]);
  }

  /**
   * Loads the engine of a slot. Resolves when it is ready, also where another slot became its host meanwhile. Throws
   * GatewayError `slot.*`.
   */
  async load(controller: SlotController, trigger?: LoadTrigger): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const refused = controller.refusal('admin');
      if (refused !== null) throw refused;
      const host = this.hostOf(controller);
      // The load of a host stays wanted while a guest waits for it.
      this.use(host, controller);
      try {
        await host.load(trigger);
        if (host !== controller && host.runningKey !== controller.engineKey)
          throw movedError(host.config.name);
        // The host itself may have been unloaded meanwhile.
        if (host !== controller) this.use(host, controller);
        return;
      } catch (cause) {
        this.#guests.get(host)?.delete(controller);
        if (attempt === MAX_LOADS || !this.#hasMoved(cause, host, controller)) throw cause;
      }
    }
  }

  /** Unloads a slot. Its engine stays loaded while another slot uses it. Resolves when that is decided or it has ended. */
  async unload(controller: SlotController): Promise<void> {
    const host = this.hostOf(controller);
    this.leave(controller);
    if (!SHARED.has(host.standing)) return host.unload();
    if (!this.#usersOf(host).some((user) => user !== controller)) return host.unload();
    if (host === controller) this.#unloadedHosts.add(host);
    host.restartIdleTime();
  }

  /** Unloads engines that no slot uses any more, after slots were changed or removed. */
  unloadUnused(): void {
    for (const host of this.#unloadedHosts) {
      if (this.#usersOf(host).length > 0) continue;
      if (SHARED.has(host.standing)) void host.unload();
      else if (host.current === null) this.#unloadedHosts.delete(host);
    }
  }

  /** Returns what the record of a slot says about the engine that it shares; null when it shares none. */
  viewOf(controller: SlotController): SlotRecord['shared_engine'] | null {
    const peers = this.peersOf(controller);
    if (peers.length === 0) return null;
    const host = this.hostOf(controller);
    const sharing = peers.filter((peer) => this.hostOf(peer) === host || isIdle(host, peer));
    if (sharing.length === 0) return null;
    const isRunning = PRESENT.has(host.standing);
    return {
      slot: isRunning ? host.config.name : null,
      with: sharing.map(({ config }) => config.name),
      used_by: isRunning ? this.#usersOf(host).map(({ config }) => config.name) : [],
    };
  }

  /** Returns whether a load failed because another slot serves this one now. */
  #hasMoved(cause: unknown, host: SlotController, controller: SlotController): boolean {
    if (host === controller) return cause instanceof RedispatchError && this.hostOf(controller) !== host;
    const isDisabled = cause instanceof GatewayError && cause.code === 'slot.disabled';
    return isDisabled || cause instanceof RedispatchError;
  }

  #usersOf(host: SlotController): SlotController[] {
    const guests = this.guestsOf(host);
    return this.#isUsedByItself(host) ? [host, ...guests] : guests;
  }

  #isUsedByItself(host: SlotController): boolean {
    if (!this.#unloadedHosts.has(host)) return true;
    return [...this.#callers].some((caller) => caller.host === host && caller.slot === host);
  }
}

/** Returns whether a slot may serve others with equal settings: its engine was started with these settings. */
const canServe = (controller: SlotController): boolean =>
  !PRESENT.has(controller.standing) || controller.runningKey === controller.engineKey;

/** Returns whether nothing runs in either slot, so that the first request decides which one loads. */
const isIdle = (host: SlotController, peer: SlotController): boolean =>
  host.standing === 'none' && peer.standing === 'none';

function peersByKey(all: readonly SlotController[]): ReadonlyMap<SlotController, readonly SlotController[]> {
  const groups = Map.groupBy(all, ({ engineKey: key }) => key);
  const peers = new Map<SlotController, readonly SlotController[]>();
  for (const [key, members] of groups) {
    if (key === null || members.length < 2) continue;
    for (const each of members) {
      const others = members.filter((other) => other !== each);
      peers.set(each, others);
    }
  }
  return peers;
}
