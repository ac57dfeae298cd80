import { silentLog } from '../../lib/log.ts';
import { Loads } from '../admission/controller.ts';
import { Measures } from '../admission/measured-memory.ts';
import type { SlotModel } from '../engines/engine.ts';
import { type Lease, leaseFor, type ReadyOptions } from '../lifecycle/lease.ts';
import { Owner } from '../lifecycle/slot-controller.ts';
import { ManualClock } from './manual-clock.ts';
import { MODEL, slotConfig } from './owner-bench.ts';
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

/** Several owners that share one memory and one line, over scripted engines and a clock that the test moves. */
export class LoadsBench {
  readonly clock = new ManualClock();
  readonly runner = new ScriptedRunner();
  readonly owners = new Map<string, Owner>();
  readonly loads: Loads;
  /** Slots whose engines run already and are only taken up. */
  readonly running = new Set<string>();
  /** Every slot that was evicted, in order. */
  readonly evicted: string[] = [];
  /** Steps outside the transition table and other bugs. */
  readonly strange: unknown[] = [];
  readonly limit: number;
  readonly #models: Map<string, SlotModel>;

  /** `room` in GiB is what models of the slots may take together, beside a little that each engine takes. */
  constructor(slots: readonly BenchSlot[], room: number) {
    const model = ({ name, size }: BenchSlot): SlotModel => ({
      ...MODEL,
      id: `${name}-model`,
      sizeBytes: size * GIB,
      kvBytesPerToken: 0,
      embedding: 0,
    });
    this.#models = new Map(slots.map((slot) => [slot.name, model(slot)]));
    this.limit = room * GIB + GIB / 2;
    this.loads = this.#openLoads();
    for (const { name, text = '' } of slots) this.#open(name, text);
  }

  owner(name: string): Owner {
    return this.owners.get(name) as Owner;
  }

  /** Asks for a slot; an outcome that nobody looks at is no stray rejection. */
  ask(name: string, over: Partial<ReadyOptions> = {}): Promise<Lease> {
    const options = { signal: new AbortController().signal, stream: false, ...over };
    const asked = this.owner(name)
      .ensureReady(options)
      .then((lease) => leaseFor(lease, options));
    asked.catch(() => {});
    return asked;
  }

  /** The engines of a slot that have not ended. */
  alive(name?: string): ScriptedEngine[] {
    return this.runner.engines.filter(
      ({ over, launch }) => !over && (name === undefined || launch.slot === name),
    );
  }

  /** Bytes that living engines were granted together. */
  get granted(): number {
    return [...this.owners.values()].reduce((sum, { current }) => sum + (current?.neededBytes ?? 0), 0);
  }

  #openLoads(): Loads {
    return new Loads({
      clock: this.clock,
      measures: new Measures(),
      cores: 4,
      cpuThreads: () => 0,
      queueMax: () => 64,
      memoryLimit: () => this.limit,
      room: () => ({ pool: 'host', free: 1_000 * GIB }),
      model: ({ name }) => this.#models.get(name) ?? null,
      holdings: () => [...this.owners.values()].map(({ holding }) => holding).filter((one) => one !== null),
      memoryOf: () => null,
      familyMemoryOf: () => null,
      cardMemoryOf: async () => null,
      evict: (slot) => {
        this.evicted.push(slot);
        this.#guarded(() => this.owners.get(slot)?.evict());
      },
      runsAlready: (slot) => this.running.has(slot),
      retry: (slot) => this.#guarded(() => this.owners.get(slot)?.retry()),
    });
  }

  #open(name: string, text: string): void {
    const config = slotConfig(name, text);
    const owner = new Owner(config, {
      clock: this.clock,
      log: silentLog(),
      queueMax: () => 64,
      loadWaitMs: (stream) => (stream ? 600_000 : 300_000),
      model: () => this.#models.get(name) ?? null,
      admit: (current, asked) => this.loads.admit(current, asked),
      leaveLine: () => this.loads.leave(name),
      ready: (current) => this.loads.ready(current),
      served: (current) => this.loads.served(current),
      ended: (current) => this.loads.ended(current),
      failed: () => {},
      start: (_, launch) => this.runner.start(launch),
      check: async () => {},
      signOfLife: () => null,
      ask: async () => ({ status: 200, body: '' }),
      residentBytes: () => null,
      gpuNote: () => null,
      changed: () => this.loads.changed(),
    });
    this.owners.set(name, owner);
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (cause) {
      this.strange.push(cause);
      throw cause;
    }
  }
}
