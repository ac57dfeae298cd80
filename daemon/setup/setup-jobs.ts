import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { PullRecord } from '../contract/pulls.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import type { Pulls } from '../models/pulls/pulls.ts';
import type { Registry } from '../models/registry.ts';
import type { Slots } from '../slots/slots.ts';
import { configureSlot } from './place-model.ts';
import type { SetupJob } from './setup-state.ts';
import type { StoredSetupState } from './stored-state.ts';

export interface SetupJobsDeps {
  readonly state: StoredSetupState;
  readonly log: Log;
  readonly bus: EventBus<GatewayEvents>;
  readonly pulls: Pick<Pulls, 'list' | 'create'>;
  readonly registry: Pick<Registry, 'get'>;
  readonly slots: Slots;
  /** Runs a change of the configuration and names its failure. */
  write<T>(change: () => Promise<T>): Promise<T>;
  /** Id of the registered model of a catalogue name; null without one. */
  installed(model: string): string | null;
}

type Failure = NonNullable<SetupJob['error']>;

function failureOf(error: unknown): Failure {
  if (error instanceof GatewayError) {
    const { reason } = error.options.details ?? {};
    const why = typeof reason === 'string' ? ` ${reason}` : '';
    return { code: error.code, message: `${error.message}${why}` };
  }
  return { code: 'internal', message: 'An unexpected error occurred; see the gateway log.' };
}

const CANCELLED: Failure = { code: 'pull.state', message: 'The download was cancelled.' };
const OPEN: ReadonlySet<SetupJob['phase']> = new Set(['asking', 'pulling', 'loading']);

/**
 * Loads the models of the set into their slots: requests a pull, waits for the download, writes the slot
 * file, loads. Every step is stored before the next one, so that the job continues without a browser and
 * after a restart. Runs one request and one load at a time.
 */
export class SetupJobs {
  readonly #options: SetupJobsDeps;
  readonly #closing = new AbortController();
  readonly #unsubscribe: () => void;
  readonly #busy = new Set<string>();
  #requestTail: Promise<void> = Promise.resolve();
  #loadTail: Promise<void> = Promise.resolve();
  /** The last failure of the hub in this round of requests. */
  #hubFailure: Failure | null = null;

  constructor(options: SetupJobsDeps) {
    this.#options = options;
    this.#unsubscribe = options.bus.subscribe(({ name, payload }) => {
      if (name === 'pull') this.#pullChanged((payload as GatewayEvents['pull']).pull);
    });
    for (const work of options.state.state.work) this.#advance(work.slot);
  }

  /**
   * Starts jobs, and restarts failed ones and those whose model was removed. Running and completed jobs for
   * the same model stay unchanged.
   */
  begin(wanted: readonly Pick<SetupJob, 'slot' | 'model' | 'name' | 'context'>[]): void {
    this.#hubFailure = null;
    const { state } = this.#options;
    for (const one of wanted) {
      const before = state.job(one.slot);
      if (before?.model === one.model && this.isCurrent(before)) continue;
      state.putJob({ ...one, phase: 'asking', pull: null, modelId: null, error: null });
      this.#advance(one.slot);
    }
  }

  /** Whether a job is running, or its model is still in its slot. */
  isCurrent({ slot, phase, modelId }: SetupJob): boolean {
    if (phase !== 'ready') return phase !== 'failed';
    const { registry, slots } = this.#options;
    return registry.get(modelId ?? '') !== undefined && slots.config(slot)?.model === modelId;
  }

  close(): void {
    this.#unsubscribe();
    this.#closing.abort(new DOMException('the gateway stops', 'AbortError'));
  }

  /** Stores the progress of a job, unless the slot has a job for another model by now. */
  #change({ slot, model }: SetupJob, change: Partial<SetupJob>): void {
    const work = this.#options.state.job(slot);
    if (work?.model === model && !this.#closing.signal.aborted)
      this.#options.state.putJob({ ...work, ...change });
  }

  #pullChanged({ id, state }: PullRecord): void {
    const work = this.#options.state.state.work.find(({ pull }) => pull === id);
    if (work === undefined) return;
    const goesOn = work.phase === 'failed' && !['failed', 'cancelled'].includes(state);
    if (goesOn && work.modelId === null) this.#change(work, { phase: 'pulling', error: null });
    if (goesOn || ['done', 'failed', 'cancelled'].includes(state)) this.#advance(work.slot);
  }

  /** Runs the next step of a job, unless one is running. */
  #advance(slot: string): void {
    const work = this.#options.state.job(slot);
    if (work === undefined || !OPEN.has(work.phase) || this.#busy.has(slot)) return;
    if (work.phase === 'pulling') {
      this.#checkPull(work);
      return;
    }
    this.#busy.add(slot);
    const step = work.phase === 'asking' ? this.#enqueueRequest(work) : this.#enqueueLoad(work);
    void step.finally(() => {
      this.#busy.delete(slot);
      const now = this.#options.state.job(slot);
      if (
        !this.#closing.signal.aborted &&
        now !== undefined &&
        (now.phase !== work.phase || now.model !== work.model)
      )
        this.#advance(slot);
    });
  }

  #checkPull(work: SetupJob): void {
    const job = this.#options.pulls.list().find(({ id }) => id === work.pull);
    const state = job?.state ?? 'cancelled';
    if (state === 'cancelled') this.#change(work, { phase: 'failed', error: CANCELLED });
    if (state === 'failed') this.#change(work, { phase: 'failed', error: job?.error ?? null });
    if (state !== 'done') return;
    this.#change(work, { phase: 'loading', modelId: job?.model ?? null });
    this.#advance(work.slot);
  }

  #enqueueRequest(work: SetupJob): Promise<void> {
    this.#requestTail = this.#requestTail.then(() => this.#guarded(work, () => this.#request(work)));
    return this.#requestTail;
  }

  #enqueueLoad(work: SetupJob): Promise<void> {
    this.#loadTail = this.#loadTail.then(() => this.#guarded(work, () => this.#load(work)));
    return this.#loadTail;
  }

  async #guarded(work: SetupJob, step: () => Promise<void>): Promise<void> {
    try {
      this.#closing.signal.throwIfAborted();
      await step();
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      const failure = failureOf(error);
      if (failure.code === 'pull.hub_unreachable') this.#hubFailure = failure;
      const { log } = this.#options;
      log.warn(
        { slot: work.slot, model: work.model, err: error },
        'a model of the setup could not be loaded into its slot',
      );
      this.#change(work, { phase: 'failed', error: failure });
    }
  }

  async #request(work: SetupJob): Promise<void> {
    const { model } = work;
    const { pulls, installed } = this.#options;
    const here = installed(model);
    if (here !== null) return this.#change(work, { phase: 'loading', modelId: here });
    // Six requests to an unreachable hub would take minutes.
    if (this.#hubFailure !== null) return this.#change(work, { phase: 'failed', error: this.#hubFailure });
    try {
      const { id } = await pulls.create({ model }, this.#closing.signal);
      this.#change(work, { phase: 'pulling', pull: id });
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'model.exists') throw error;
      this.#change(work, { phase: 'loading', modelId: String(error.options.details?.model) });
    }
  }

  async #load(work: SetupJob): Promise<void> {
    const { slot, modelId, context } = work;
    const { registry, slots, write } = this.#options;
    const model = registry.get(modelId ?? '');
    if (model === undefined) throw new GatewayError('model.not_found');
    await configureSlot(slots, { slot, modelId: model.id, type: model.type, context }, write);
    this.#change(work, { phase: 'ready', error: null });
  }
}
