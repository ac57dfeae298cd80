import { systemClock } from './clock.ts';
import type { Current, OwnerParts } from './controller-deps.ts';
import type { Owner } from './slot-controller.ts';

/** What became of the engine of a slot. */
export type SlotWorkKind = 'loaded' | 'load_failed' | 'crashed' | 'evicted';

/** One thing that happened to the engine of a slot, for whoever counts it. Times are Unix milliseconds. */
export interface SlotWork {
  readonly slot: string;
  readonly kind: SlotWorkKind;
  /** The load began. */
  readonly startedAt: number;
  readonly at: number;
}
export type SlotWorkListener = (work: SlotWork) => void;

/** Tells what happens to engines, at once and each thing once; the events of the bus are gathered and may skip states. */
export class SlotWorks {
  readonly #now: () => number;
  readonly #listeners = new Set<SlotWorkListener>();

  constructor(now: () => number = systemClock.now) {
    this.#now = now;
  }

  /** Calls `listener`, which must not throw; the answer unsubscribes. */
  on(listener: SlotWorkListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What the owner of a slot tells of its engine, passed on to `loads` too. */
  heardWith(
    loads: Pick<OwnerParts, 'ready' | 'served' | 'ended'>,
  ): Pick<OwnerParts, 'ready' | 'served' | 'ended' | 'failed'> {
    return {
      ready: (current) => {
        loads.ready(current);
        this.#tell('loaded', current);
      },
      served: (current) => loads.served(current),
      ended: (current) => loads.ended(current),
      failed: (current) => this.#tell(current.readySince === null ? 'load_failed' : 'crashed', current),
    };
  }

  /** Evicts an engine, and tells it unless it was leaving already. */
  evict(owner: Pick<Owner, 'current' | 'evict'> | undefined): void {
    const current = owner?.current;
    if (owner?.evict() && current) this.#tell('evicted', current);
  }

  #tell(kind: SlotWorkKind, { launch, startedAt }: Pick<Current, 'launch' | 'startedAt'>): void {
    const work: SlotWork = { slot: launch.slot, kind, startedAt, at: this.#now() };
    for (const listener of this.#listeners) listener(work);
  }
}
