import { silentLog } from '../../lib/log.ts';
import { AdmissionController } from '../admission/controller.ts';
import { Measurements } from '../admission/measured-memory.ts';
import type { SlotModel } from '../engines/engine.ts';
import { type Lease, leaseFor, type ReadyOptions } from '../lifecycle/lease.ts';
import { SlotController } from '../lifecycle/slot-controller.ts';
import { MODEL, slotConfig } from './controller-bench.ts';
import { ManualClock } from './manual-clock.ts';
import { type ScriptedEngine, ScriptedRunner } from './scripted-runner.ts';

const GIB = 1024 ** 3;

/** One slot of the bench. */
export interface BenchSlot {
  readonly name: string;
  /** Size of its model in GiB. */
  readonly size: number;
  /** Text of its slot file. */
  readonly text?: string;
}

/**
 * Several slot controllers that share one memory pool and one admission queue, with scripted engines and a manual
 * clock.
 */
export class AdmissionBench {
  readonly clock = new ManualClock();
  readonly runner = new ScriptedRunner();
  readonly controllers = new Map<string, SlotController>();
  readonly admission: AdmissionController;
  /** Slots whose engines already run and are only adopted. */
  readonly running = new Set<string>();
  /** Every slot that was evicted, in order. */
  readonly evicted: string[] = [];
  /** Illegal transitions and other errors. */
  readonly errors: unknown[] = [];
  readonly limit: number;
  readonly #models: Map<string, SlotModel>;

  /** `memoryGib` is what the models of the slots may take together, besides the overhead of each engine. */
  constructor(slots: readonly BenchSlot[], memoryGib: number) {
    const model = ({ name, size }: BenchSlot): SlotModel => ({
      ...MODEL,
      id: `${name}-model`,
      sizeBytes: size * GIB,
      kvBytesPerToken: 0,
      embedding: 0,
    });
    this.#models = new Map(slots.map((slot) => [slot.name, model(slot)]));
    this.limit = memoryGib * GIB + GIB / 2;
    this.admission = this.#openAdmission();
    for (const { name, text = '' } of slots) this.#open(name, text);
  }

  controller(name: string): SlotController {
    return this.controllers.get(name) as SlotController;
  }

  /** Requests a lease of a slot. An ignored rejection is not reported as unhandled. */
  request(name: string, over: Partial<ReadyOptions> = {}): Promise<Lease> {
    const options = { signal: new AbortController().signal, stream: false, ...over };
    const isRequested = this.controller(name)
      .ensureReady(options)
      .then((lease) => leaseFor(lease, options));
    isRequested.catch(() => {});
    return isRequested;
  }

  /** Returns the engines of a slot that have not ended. */
  alive(name?: string): ScriptedEngine[] {
    return this.runner.engines.filter(
      ({ hasEnded, launch }) => !hasEnded && (name === undefined || launch.slot === name),
    );
  }

  /** The bytes that were granted to running engines. */
  get granted(): number {
    return [...this.controllers.values()].reduce((sum, { current }) => sum + (current?.neededBytes ?? 0), 0);
  }

  #openAdmission(): AdmissionController {
    return new AdmissionController({
      clock: this.clock,
      measurements: new Measurements(),
      cores: 4,
      cpuThreads: () => 0,
      queueMax: () => 64,
      memoryLimit: () => this.limit,
      headroom: () => ({ pool: 'host', free: 1_000 * GIB }),
      model: ({ name }) => this.#models.get(name) ?? null,
      memoryUses: () =>
        [...this.controllers.values()].map(({ memoryUse }) => memoryUse).filter((one) => one !== null),
      memoryOf: () => null,
      measureMemory: async () => null,
      cardMemoryOf: async () => null,
      rereadCards: () => false,
      reclaimHost: () => {},
      evict: (slot) => {
        this.evicted.push(slot);
        this.#guarded(() => this.controllers.get(slot)?.evict());
      },
      isAlreadyRunning: (slot) => this.running.has(slot),
      retry: (slot) => this.#guarded(() => this.controllers.get(slot)?.retry()),
    });
  }

  #open(name: string, text: string): void {
    const config = slotConfig(name, text);
    const controller = new SlotController(config, {
      clock: this.clock,
      log: silentLog(),
      queueMax: () => 64,
      loadWaitMs: (stream) => (stream ? 600_000 : 300_000),
      model: () => this.#models.get(name) ?? null,
      admit: (current, isRequested) => this.admission.admit(current, isRequested),
      withdrawLoad: () => this.admission.withdraw(name),
      ready: (current) => this.admission.ready(current),
      serving: (current) => this.admission.serving(current),
      served: (current) => this.admission.served(current),
      ended: (current) => this.admission.ended(current),
      failed: () => {},
      start: (_, launch) => this.runner.start(launch),
      check: async () => {},
      livenessProbe: () => null,
      query: async () => ({ status: 200, body: '' }),
      residentBytes: () => null,
      gpuNote: () => null,
      changed: () => this.admission.changed(),
    });
    this.controllers.set(name, controller);
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (cause) {
      this.errors.push(cause);
      throw cause;
    }
  }
}
