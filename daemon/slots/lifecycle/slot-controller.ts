import type { GatewayError } from '../../contract/errors.ts';
import type { SlotRecord, SlotStateName } from '../../contract/slots.ts';
import { redactSecrets } from '../../lib/text/redact.ts';
import { type MemoryUse, memoryUseOf } from '../admission/memory-use.ts';
import { SlotAdmission } from '../admission/slot-admission.ts';
import { pendingKeys } from '../config/pending-keys.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { SlotModel } from '../engines/engine.ts';
import { servedModelId, slotRecord } from '../record.ts';
import { disabledError, movedError, stoppingError, unloadedError } from '../refusals.ts';
import type { EngineStanding } from '../sharing/choose-host.ts';
import { engineKey } from '../sharing/engine-key.ts';
import type { StayTerms } from '../sharing/shared-terms.ts';
import { LiveSlotView, type SlotView } from '../slot-view.ts';
import { Backoff } from './backoff.ts';
import type { EngineDiagnosis, EngineRun, FailedCall, SlotControllerDeps } from './controller-deps.ts';
import { CUT_GRACE_MS, EngineLifecycle, GRACE_MS } from './engine-lifecycle.ts';
import { errorLines } from './failure-reason.ts';
import type { Lease, ReadyOptions } from './lease.ts';
import { LifecycleHandlers } from './lifecycle-handlers.ts';
import { queueLimitOf } from './queue-limit.ts';
import { nextStep, type SlotStep } from './scheduler.ts';
import { Serving } from './serving.ts';
import { SlotMachine } from './slot.ts';
import { type LoadTrigger, Waiters } from './waiters.ts';

/** Maximum lines of output in a diagnosis. */
const MAX_ERROR_LINES = 5;

/** Keys of a slot file that say to which server an attached slot connects, and how it is checked. */
const CONNECTION_KEYS: ReadonlySet<string> = new Set(['url', 'key_env', 'health', 'engine', 'type', 'model']);

/** The engines that slots with equal settings share. */
export interface EngineSharing {
  /** Returns the slot whose engine serves a slot. */
  hostOf(slot: SlotController): SlotController;
  /** Returns how long the engine of a slot stays loaded. */
  termsOf(slot: SlotController): StayTerms;
  /** Returns what the record of a slot says about the engine that it shares; null when it shares none. */
  viewOf(slot: SlotController): SlotRecord['shared_engine'] | null;
  /** The settings or the model of a slot were changed. */
  keysChanged(): void;
  /** The engine of a slot has ended on purpose, or its failure was cleared. */
  ended(slot: SlotController): void;
}

/**
 * The controller of one slot: the only object that starts, stops and judges its engine. Every event changes the
 * state in one synchronous step, and `#settle` then takes the step that `nextStep` decides.
 */
export class SlotController {
  readonly #deps: SlotControllerDeps;
  readonly #sharing: EngineSharing | null;
  readonly #machine: SlotMachine;
  readonly #waiters: Waiters<Lease>;
  readonly #backoff: Backoff;
  readonly #lifecycle: EngineLifecycle;
  readonly #admission: SlotAdmission;
  readonly #serving: Serving;
  /** The read-only view of the slot for decisions elsewhere. */
  readonly view: SlotView;
  #config: SlotConfig;
  #model: SlotModel | null;
  /** The key of the settings and the model; undefined after a change of either. */
  #engineKey: string | null | undefined;
  #runningKey: string | null = null;
  #isClosed = false;
  /** The running check after a failed call. */
  #check: Promise<string | null> | null = null;

  /** `sharing` is null when no slots share an engine. */
  constructor(config: SlotConfig, deps: SlotControllerDeps, sharing: EngineSharing | null = null) {
    this.#config = config;
    this.#deps = deps;
    this.#sharing = sharing;
    this.#model = deps.model(config);
    const onTransition = (to: SlotStateName) => {
      if (to === 'offline') sharing?.ended(this);
      deps.changed();
    };
    this.#machine = new SlotMachine(config.name, onTransition, deps.clock.now.bind(deps.clock));
    this.#serving = new Serving({
      clock: deps.clock,
      machine: this.#machine,
      current: () => this.#lifecycle.current,
      degraded: () => this.view.degraded,
      idleTimeoutS: () => this.#terms.idleUnloadS,
      onIdle: () => {
        if (this.#machine.is('ready') && this.#waiters.size === 0) this.#stop(GRACE_MS);
      },
      onServing: (current) => deps.serving(current),
      onAbandoned: () => {
        this.#settle();
        deps.changed();
      },
      onRequestEnded: (current) => {
        deps.served(current);
        this.#settle();
        deps.changed();
      },
    });
    this.view = new LiveSlotView({
      config: () => this.#config,
      state: () => this.#host.#machine.state,
      model: () => this.#model,
      current: () => this.#host.#lifecycle.current,
      queued: () => this.#host.#waiters.size,
      gpuNote: deps.gpuNote,
      sharesWith: () => sharing?.viewOf(this)?.with,
      traffic: () => this.#host.#serving.traffic,
    });
    this.#backoff = new Backoff(deps.clock, () => this.#retryNow());
    this.#waiters = new Waiters({
      slot: config.name,
      clock: deps.clock,
      limit: () => queueLimitOf(this.#config.name, this.#config.type, deps.queueMax()),
      isLoading: () => !this.#machine.is('ready', 'serving'),
      progress: () => this.#lifecycle.current?.running.progress() ?? null,
      onLeave: () => this.#settle(),
    });
    const handlers = new LifecycleHandlers({
      slot: config.name,
      controller: deps,
      machine: this.#machine,
      waiters: this.#waiters,
      serving: this.#serving,
      backoff: this.#backoff,
      requestAdmission: () => this.#requestAdmission(),
      settle: () => this.#settle(),
      refreshModel: () => this.refreshModel(),
    });
    this.#lifecycle = new EngineLifecycle(deps, this.#machine, handlers);
    this.#admission = new SlotAdmission({
      controller: deps,
      machine: this.#machine,
      waiters: this.#waiters,
      backoff: this.#backoff,
      start: (current, admitted) => {
        this.#runningKey = this.engineKey;
        this.#lifecycle.start(current, admitted);
      },
    });
  }

  get config(): SlotConfig {
    return this.#config;
  }

  /** The model id under which requests reach this slot. */
  get modelId(): string | null {
    return servedModelId(this.#lifecycle.current, this.#model);
  }

  get current(): Readonly<EngineRun> | null {
    return this.#lifecycle.current;
  }

  /** The memory that its engine uses; null when none runs. */
  get memoryUse(): MemoryUse | null {
    const { pinned, priority } = this.#terms;
    const terms = { name: this.#config.name, pinned, priority };
    return memoryUseOf(terms, this.#machine.state, this.#serving.traffic, this.#lifecycle.current);
  }

  /** Equal for slots that can use one engine; null when its engine cannot be shared. By the current settings. */
  get engineKey(): string | null {
    if (this.#engineKey === undefined) this.#engineKey = engineKey(this.#config, this.#model);
    return this.#engineKey;
  }

  /** The engine key of its last start. */
  get runningKey(): string | null {
    return this.#runningKey;
  }

  /** What its own engine does, for slots that may share it. */
  get standing(): EngineStanding {
    if (this.#machine.is('ready', 'serving')) return 'loaded';
    if (this.#machine.is('pulling', 'starting', 'warming')) return 'loading';
    if (this.#machine.is('draining', 'stopping')) return 'leaving';
    if (this.#waiters.size > 0 || this.#waiters.isLoadRequested) return 'waiting';
    return this.#machine.is('error') ? 'failed' : 'none';
  }

  /** The controller whose engine serves this slot: itself, unless another slot with equal settings was loaded first. */
  get #host(): SlotController {
    return this.#sharing?.hostOf(this) ?? this;
  }

  /** How long its engine stays loaded. */
  get #terms(): StayTerms {
    return this.#sharing?.termsOf(this) ?? this.#config;
  }

  /**
   * Returns the error that a request or an admin's load would get immediately; null when it may wait or is served.
   */
  refusal(by: 'admin' | 'request'): GatewayError | null {
    if (this.#isClosed) return stoppingError(this.#config.name);
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
    const lease = this.leaseNow();
    if (lease !== null) return lease;
    const { signal, stream, priority = 'interactive', onDecided, bytes } = options;
    const limitMs = this.#deps.loadWaitMs(stream);
    const turn = this.#waiters.wait({ signal, priority, bytes, limitMs, onDecided });
    this.#onNewDemand();
    if (!this.#machine.is('offline', 'error', 'draining', 'stopping')) this.#waiters.notifyAdmitted();
    this.#deps.changed();
    return turn;
  }

  /** Returns a lease if the caller need not wait; otherwise null, and `ensureReady` reports the reason. */
  leaseNow(): Lease | null {
    const granted = this.#waiters.size === 0 && this.#nextStep(1) === 'grant';
    return granted && this.refusal('request') === null ? this.#serving.grantLease() : null;
  }

  /** Loads the slot and resolves when it is ready. The load of an admin is always a trial. */
  async load(trigger: LoadTrigger = 'request'): Promise<void> {
    const refused = this.refusal('admin');
    if (refused !== null) throw refused;
    if (this.#machine.is('ready', 'serving')) return;
    const outcome = this.#waiters.requestLoad(trigger);
    this.#onNewDemand();
    return outcome;
  }

  /**
   * Drains and ends the engine. Resolves when its end was observed. Clears failures and refuses loads that were
   * requested outside of the queue. Waiting callers are served by the next load
   * (docs/spec/contract.md#waiting-requests).
   */
  async unload(): Promise<void> {
    this.#waiters.refuseLoads(unloadedError(this.#config.name));
    return this.#endEngine();
  }

  async #endEngine(): Promise<void> {
    this.#backoff.reset();
    if (this.#waiters.size === 0) this.#admission.withdraw();
    if (this.#machine.is('error')) this.#machine.transition('offline');
    if (this.#machine.is('offline')) return;
    this.#shutDown();
    return this.#machine.atRest;
  }

  /**
   * Frees memory for another slot: ends the engine immediately when it is idle, otherwise after its requests.
   * Waiting callers are served later. Returns false when there is no engine to end or it is ending already.
   */
  evict(): boolean {
    if (!this.#machine.is('ready', 'serving')) return false;
    this.#shutDown();
    return true;
  }

  /** Starts the idle time of a loaded slot without requests again, because other slots use its engine now. */
  restartIdleTime(): void {
    if (this.#machine.is('ready')) this.#serving.startIdleTimer();
  }

  /**
   * Requests admission again for a load that waits for memory. Its callers choose again where the engine of another slot
   * serves this one by now.
   */
  retry(): void {
    if (this.#admission.waitsFor === null) return;
    if (this.#host === this) this.#requestAdmission();
    else void this.leaveFor(movedError(this.#config.name));
  }

  /** Drains, ends and loads again. The new engine serves all waiting callers, also those of a cancelled load. */
  async restart(): Promise<void> {
    const refused = this.refusal('admin');
    if (refused !== null) throw refused;
    await this.#endEngine();
    await this.load();
  }

  /**
   * Ends the engine because that of another slot serves this one from now on. Waiting callers choose again, running
   * requests end first.
   */
  async leaveFor(refusal: GatewayError): Promise<void> {
    this.#waiters.refuse(refusal);
    return this.#endEngine();
  }

  /**
   * Applies new settings. A running engine keeps its own until its next start; an attached one is connected again at
   * once. A disabled slot is unloaded.
   */
  configure(config: SlotConfig): void {
    this.#config = config;
    this.#keyChanged();
    // The change may have repaired what failed.
    this.#dropFailure();
    this.refreshModel();
    if (config.enabled) {
      const { current } = this.#lifecycle;
      // A slot that drains or stops was unloaded on purpose.
      const isUp = this.#machine.is('ready', 'serving') && current?.config.runner === 'attach';
      if (isUp && pendingKeys(current.config, config).some((key) => CONNECTION_KEYS.has(key)))
        this.restart().catch(() => {});
      return;
    }
    this.#waiters.refuse(disabledError(config.name));
    void this.unload();
  }

  /** Reads again which model the slot should hold. The demonstration model yields to a real one. */
  refreshModel(): void {
    this.#readModel();
    const { failedModel } = this.#backoff;
    if (failedModel !== null && this.#model !== null && this.#model.id !== failedModel) this.#dropFailure();
    this.#deps.changed();
    const yields = this.#lifecycle.current?.launch.demo === true && this.#model !== null && !this.#model.demo;
    if (yields && this.#machine.is('ready', 'serving')) this.restart().catch(() => {});
  }

  #readModel(): void {
    this.#model = this.#deps.model(this.#config);
    this.#keyChanged();
  }

  #keyChanged(): void {
    this.#engineKey = undefined;
    this.#sharing?.keysChanged();
  }

  /** Clears an earlier failure that does not apply any more, so that the next request loads the slot. */
  #dropFailure(): void {
    if (!this.#machine.is('error')) return;
    this.#backoff.reset();
    this.#machine.transition('offline');
    this.#settle();
  }

  /** Refuses all waiting callers, lets running requests end for `limitMs`, then cuts them. Final. */
  async close(limitMs: number, refusal = stoppingError(this.#config.name)): Promise<void> {
    this.#isClosed = true;
    this.#backoff.close();
    this.#admission.withdraw();
    this.#waiters.refuse(refusal);
    if (this.#machine.is('offline', 'error')) return;
    this.#shutDown();
    const cancel = this.#deps.clock.after(limitMs, () => {
      if (this.#machine.is('draining')) this.#stop(CUT_GRACE_MS);
    });
    await this.#machine.atRest;
    cancel();
  }

  /** Records the speed of a completed response. */
  recordSpeed(tokensPerSecond: number): void {
    this.#serving.traffic.tokensPerSecond = tokensPerSecond;
    this.#deps.changed();
  }

  /** Returns what is known about a failed call. Checks an engine that did not respond at once. */
  async diagnose({ since, isAnswered }: FailedCall): Promise<EngineDiagnosis> {
    const { current, latest } = this.#lifecycle;
    let reason = current === null ? (this.#backoff.failure?.reason ?? null) : null;
    if (current !== null && !isAnswered) {
      this.#check ??= this.#lifecycle.check(current).finally(() => {
        this.#check = null;
      });
      reason = await this.#check;
    }
    const lines = errorLines(latest?.running.linesSince?.(since) ?? [], MAX_ERROR_LINES);
    const secrets = this.#deps.secrets?.() ?? [];
    return { reason, lines: lines.map((line) => redactSecrets(line, secrets)) };
  }

  /** Returns the slot as clients see it. Changes nothing. */
  record(): SlotRecord {
    const host = this.#host;
    return slotRecord({
      view: this.view,
      config: this.#config,
      model: this.#model,
      since: host.#machine.since,
      current: host.#lifecycle.current,
      shared: this.#sharing?.viewOf(this) ?? null,
      readers: this.#deps,
      traffic: host.#serving.traffic,
      waitsFor: host.#admission.waitsFor ?? [],
      failure: host.#backoff.failure,
    });
  }

  /** Reacts to a new caller or load request. From `error` this is the trial. */
  #onNewDemand(): void {
    if (this.#machine.is('error')) this.#requestAdmission();
    else this.#settle();
  }

  #settle(): void {
    let step = this.#nextStep();
    for (; step === 'grant'; step = this.#nextStep()) this.#waiters.serve(() => this.#serving.grantLease());
    if (step === 'load') this.#requestAdmission();
    else if (step === 'withdraw') this.#admission.giveUp(true);
    else if (step === 'cancel-load') this.#lifecycle.cancelStart('no request is waiting any longer');
    else if (step === 'stop') this.#stop(GRACE_MS);
  }

  /** Returns the next step as if `extra` more callers were waiting. */
  #nextStep(extra = 0): SlotStep {
    return nextStep({
      state: this.#machine.state,
      active: this.#serving.traffic.active,
      abandoned: this.#serving.traffic.abandoned,
      parallel: this.#lifecycle.current?.launch.parallel ?? 0,
      queued: this.#waiters.size + extra,
      isLoadRequested: this.#waiters.isLoadRequested,
      isWaiting: this.#admission.waitsFor !== null,
      isClosed: this.#isClosed,
    });
  }

  /** Requests admission for the load, from `offline` or `error`. */
  #requestAdmission(): void {
    this.#readModel();
    this.#admission.request(this.#config);
  }

  #retryNow(): void {
    if (!this.#machine.is('error') || !this.#config.enabled) return;
    // Another slot with equal settings serves it meanwhile.
    if (this.#host !== this) return;
    this.#waiters.requestLoad('auto').catch(() => {});
    this.#requestAdmission();
  }

  /** Ends the engine without cutting a request that a caller waits for. */
  #shutDown(): void {
    this.#serving.stopIdleTimer();
    this.#lifecycle.shutDown();
    if (this.#machine.is('draining')) this.#settle();
  }

  #stop(graceMs: number): void {
    this.#serving.abandon();
    this.#lifecycle.stop(graceMs);
  }
}
