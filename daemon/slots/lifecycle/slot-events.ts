import { systemClock } from './clock.ts';
import type { EngineRun, SlotControllerDeps } from './controller-deps.ts';
import type { SlotController } from './slot-controller.ts';

/** What happened to the engine of a slot. `joined`: the slot begins to use the running engine of another slot. */
export type SlotEventKind = 'loaded' | 'load_failed' | 'crashed' | 'evicted' | 'joined';

/** One event of the engine of a slot, for metrics and traces. Times are Unix milliseconds. */
export interface SlotEvent {
  readonly slot: string;
  readonly model: string;
  readonly kind: SlotEventKind;
  /** When the load started. */
  readonly startedAt: number;
  /** When it happened; of `joined`, when the engine was loaded. */
  readonly at: number;
}
export type SlotEventListener = (event: SlotEvent) => void;

/** Emits the events of engines immediately, each once. The events of the bus are debounced and may skip states. */
export class SlotEvents {
  readonly #now: () => number;
  readonly #listeners = new Set<SlotEventListener>();

  constructor(now: () => number = systemClock.now) {
    this.#now = now;
  }

  /** Calls `listener` for each event; it must not throw. Returns a function that unsubscribes. */
  on(listener: SlotEventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the hooks of a slot controller. They also pass each event on to `admission`. */
  lifecycleHooks(
    admission: Pick<SlotControllerDeps, 'ready' | 'serving' | 'served' | 'ended'>,
  ): Pick<SlotControllerDeps, 'ready' | 'serving' | 'served' | 'ended' | 'failed'> {
    return {
      ready: (current) => {
        admission.ready(current);
        this.#emit('loaded', current);
      },
      serving: (current) => admission.serving(current),
      served: (current) => admission.served(current),
      ended: (current) => admission.ended(current),
      failed: (current) => this.#emit(current.readySince === null ? 'load_failed' : 'crashed', current),
    };
  }

  /** Evicts an engine. Emits an event unless it was leaving already. */
  evict(controller: Pick<SlotController, 'current' | 'evict'> | undefined): void {
    const current = controller?.current;
    if (controller?.evict() && current) this.#emit('evicted', current);
  }

  /** Emits that a slot begins to use the loaded engine of another slot. */
  joined(slot: string, { launch, startedAt, readySince }: EngineRun): void {
    this.#notify({ slot, model: launch.modelId, kind: 'joined', startedAt, at: readySince ?? startedAt });
  }

  #emit(kind: SlotEventKind, { launch, startedAt }: Pick<EngineRun, 'launch' | 'startedAt'>): void {
    this.#notify({ slot: launch.slot, model: launch.modelId, kind, startedAt, at: this.#now() });
  }

  #notify(event: SlotEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
