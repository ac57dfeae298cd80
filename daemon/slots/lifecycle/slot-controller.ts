import type { GatewayError } from '../../contract/errors.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import { type Holding, holdingOf } from '../admission/memory-use.ts';
import { LoadGate } from '../admission/slot-admission.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { SlotModel } from '../engines/engine.ts';
import { answersTo, slotRecord } from '../record.ts';
import { disabledError, stoppingError, unloadedError } from '../refusals.ts';
import { OwnerGlance, type SlotGlance } from '../slot-view.ts';
import { Backoff } from './backoff.ts';
import type { Current, OwnerParts } from './controller-deps.ts';
import { CUT_GRACE_MS, EngineLife, GRACE_MS } from './engine-lifecycle.ts';
import type { Lease, ReadyOptions } from './lease.ts';
import { Aftermath } from './lifecycle-handlers.ts';
import { nextStep, type SlotStep } from './scheduler.ts';
import { Serving } from './serving.ts';
import { SlotMachine } from './slot.ts';
import { Waiters, type Wish } from './waiters.ts';

/**
 * The owner of one slot: the only one that starts, stops and judges its engine. Callers ask for an outcome; every
 * event changes the state in one synchronous step and `#settle` then takes the step that `nextStep` decides.
 */
export class Owner {
  readonly #parts: OwnerParts;
  readonly #machine: SlotMachine;
  readonly #waiters: Waiters<Lease>;
  readonly #backoff: Backoff;
  readonly #life: EngineLife;
  readonly #gate: LoadGate;
  readonly #serving: Serving;
  /** The slot as decisions see it. */
  readonly glance: SlotGlance;
  #config: SlotConfig;
  #known: SlotModel | null;
  #closed = false;

  constructor(config: SlotConfig, parts: OwnerParts) {
    this.#config = config;
    this.#parts = parts;
    this.#known = parts.model(config);
    this.#machine = new SlotMachine(config.name, parts.changed, parts.clock.now.bind(parts.clock));
    this.#serving = new Serving({
      clock: parts.clock,
      machine: this.#machine,
      current: () => this.#life.current,
      degraded: () => this.glance.degraded,
      idleS: () => this.#config.idleUnloadS,
      idle: () => {
        if (this.#machine.is('ready') && this.#waiters.size === 0) this.#stop(GRACE_MS);
      },
      ended: (current) => {
        parts.served(current);
        this.#settle();
        parts.changed();
      },
    });
    this.glance = new OwnerGlance({
      config: () => this.#config,
      state: () => this.#machine.state,
      model: () => this.#known,
      current: () => this.#life.current,
      queued: () => this.#waiters.size,
      gpuNote: parts.gpuNote,
      traffic: this.#serving.traffic,
    });
    this.#backoff = new Backoff(parts.clock, () => this.#retryNow());
    this.#waiters = new Waiters({
      slot: config.name,
      clock: parts.clock,
      most: parts.queueMax,
      loading: () => !this.#machine.is('ready', 'serving'),
      progress: () => this.#life.current?.running.progress() ?? null,
      left: () => this.#settle(),
    });
    const aftermath = new Aftermath({
      slot: config.name,
      owner: parts,
      machine: this.#machine,
      waiters: this.#waiters,
      serving: this.#serving,
      backoff: this.#backoff,
      begin: () => this.#begin(),
      settle: () => this.#settle(),
      refreshModel: () => this.refreshModel(),
    });
    this.#life = new EngineLife(parts, this.#machine, aftermath);
    this.#gate = new LoadGate({
      owner: parts,
      machine: this.#machine,
      waiters: this.#waiters,
      backoff: this.#backoff,
      start: (current, admitted) => this.#life.start(current, admitted),
    });
  }

  get config(): SlotConfig {
    return this.#config;
  }

  /** The id under which requests reach this slot. */
  get modelId(): string | null {
    return answersTo(this.#life.current, this.#known);
  }

  get current(): Readonly<Current> | null {
    return this.#life.current;
  }

  /** The memory that its engine holds; null when none runs. */
  get holding(): Holding | null {
    return holdingOf(this.#config, this.#machine.state, this.#serving.traffic, this.#life.current);
  }

  /** What a request, or an admin's load, would be refused with at once; null when it may wait or is served. */
  refusal(by: 'admin' | 'request'): GatewayError | null {
    if (this.#closed) return stoppingError(this.#config.name);
    if (!this.#config.enabled) return disabledError(this.#config.name);
    return by === 'request' && this.#machine.is('error') ? this.#backoff.refusal(this.#config.name) : null;
  }

  /**
   * Returns the right to send one request, as soon as the slot is ready and it is the caller's turn
   * (docs/spec/contract.md#slot-states, docs/spec/contract.md#queue).
   */
  async ensureReady(options: ReadyOptions): Promise<Lease> {
    options.signal.throwIfAborted();
    const refused = this.refusal('request');
    if (refused !== null) throw refused;
    const now = this.leaseNow();
    if (now !== null) return now;
    const { signal, stream, priority = 'interactive', onDecided } = options;
    const turn = this.#waiters.wait({ signal, priority, limitMs: this.#parts.loadWaitMs(stream), onDecided });
    this.#wanted();
    if (!this.#machine.is('offline', 'error', 'draining', 'stopping')) this.#waiters.decide();
    this.#parts.changed();
    return turn;
  }

  /** The same for one who would not have to wait; null for everybody else, whom `ensureReady` tells why. */
  leaseNow(): Lease | null {
    const granted = this.#waiters.size === 0 && this.#nextStep(1) === 'grant';
    return granted && this.refusal('request') === null ? this.#serving.give() : null;
  }

  /** Loads the slot and holds the load until it has an outcome; an admin's load is always a trial. */
  async load(wish: Wish = 'asked'): Promise<void> {
    const refused = this.refusal('admin');
    if (refused !== null) throw refused;
    if (this.#machine.is('ready', 'serving')) return;
    const outcome = this.#waiters.hold(wish);
    this.#wanted();
    return outcome;
  }

  /** Drains and ends the engine; resolves when its end was seen. Forgets failures, refuses who waits for a load under way. */
  async unload(loadCut = () => this.#waiters.refuse(unloadedError(this.#config.name))): Promise<void> {
    this.#backoff.forget();
    if (this.#gate.leave()) loadCut();
    if (this.#machine.is('error')) this.#machine.go('offline');
    if (this.#machine.is('offline')) return;
    if (this.#life.current?.readySince === null) loadCut();
    this.#serving.leaving();
    this.#life.letGo();
    return this.#machine.atRest;
  }

  /**
   * Makes room for another slot: ends at once when idle, else as soon as it has answered. Who waits here is served later.
   * False when there is nothing to end, or it ends already.
   */
  evict(): boolean {
    if (!this.#machine.is('ready', 'serving')) return false;
    this.#serving.leaving();
    this.#life.letGo();
    return true;
  }

  /** Asks again for the memory that its load waits for. */
  retry(): void {
    if (this.#gate.waitsFor !== null) this.#begin();
  }

  /** Drains, ends and loads anew; who waits, also for a load that is cut, is served by the new engine. */
  async restart(): Promise<void> {
    const refused = this.refusal('admin');
    if (refused !== null) throw refused;
    await this.unload(() => {});
    await this.load();
  }

  /** Takes new settings; a running engine keeps its own until its next start, a disabled slot is unloaded. */
  configure(config: SlotConfig): void {
    this.#config = config;
    this.refreshModel();
    if (config.enabled) return;
    this.#waiters.refuse(disabledError(config.name));
    void this.unload();
  }

  /** Looks again which model the slot should hold; the demonstration model steps aside for a real one. */
  refreshModel(): void {
    this.#known = this.#parts.model(this.#config);
    this.#parts.changed();
    const stepsAside = this.#life.current?.launch.demo === true && this.#known !== null && !this.#known.demo;
    if (stepsAside && this.#machine.is('ready', 'serving')) this.restart().catch(() => {});
  }

  /** Refuses everybody who waits, lets running requests end for `limitMs`, then cuts them. Final. */
  async close(limitMs: number, refusal = stoppingError(this.#config.name)): Promise<void> {
    this.#closed = true;
    this.#backoff.close();
    this.#gate.leave();
    this.#waiters.refuse(refusal);
    if (this.#machine.is('offline', 'error')) return;
    this.#serving.leaving();
    this.#life.letGo();
    const cancel = this.#parts.clock.after(limitMs, () => {
      if (this.#machine.is('draining')) this.#stop(CUT_GRACE_MS);
    });
    await this.#machine.atRest;
    cancel();
  }

  /** Speed of an answer that has ended. */
  note(tokensPerSecond: number): void {
    this.#serving.traffic.tokensPerSecond = tokensPerSecond;
    this.#parts.changed();
  }

  /** The slot as clients see it. Looking changes nothing. */
  record(): SlotRecord {
    return slotRecord({
      glance: this.glance,
      config: this.#config,
      since: this.#machine.since,
      current: this.#life.current,
      outside: this.#parts,
      traffic: this.#serving.traffic,
      waitsFor: this.#gate.waitsFor ?? [],
      failure: this.#backoff.failure,
    });
  }

  /** Somebody new wants the slot; from `error` this is the trial. */
  #wanted(): void {
    if (this.#machine.is('error')) this.#begin();
    else this.#settle();
  }

  #settle(): void {
    let step = this.#nextStep();
    for (; step === 'grant'; step = this.#nextStep()) this.#waiters.serve(() => this.#serving.give());
    if (step === 'load') this.#begin();
    else if (step === 'leave-line') this.#gate.giveUp(true);
    else if (step === 'cut-load') this.#life.cut('nobody waits any more');
    else if (step === 'stop') this.#stop(GRACE_MS);
  }

  /** The next step, with so many callers more than wait. */
  #nextStep(more = 0): SlotStep {
    return nextStep({
      state: this.#machine.state,
      active: this.#serving.traffic.active,
      parallel: this.#life.current?.launch.parallel ?? 0,
      queued: this.#waiters.size + more,
      held: this.#waiters.held,
      waiting: this.#gate.waitsFor !== null,
      closed: this.#closed,
    });
  }

  /** Asks admission for the load; from `offline` or `error`. */
  #begin(): void {
    this.#known = this.#parts.model(this.#config);
    this.#gate.enter(this.#config);
  }

  #retryNow(): void {
    if (!this.#machine.is('error') || !this.#config.enabled) return;
    this.#waiters.hold('by itself').catch(() => {});
    this.#begin();
  }

  #stop(graceMs: number): void {
    this.#serving.cut();
    this.#life.stop(graceMs);
  }
}
