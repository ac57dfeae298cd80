import { failedError } from '../refusals.ts';
import type { Backoff } from './backoff.ts';
import type { Current, OwnerParts } from './controller-deps.ts';
import type { LifeEvents } from './engine-lifecycle.ts';
import { servedLong } from './failure.ts';
import type { Lease } from './lease.ts';
import type { Serving } from './serving.ts';
import type { SlotMachine } from './slot.ts';
import type { Waiters } from './waiters.ts';

export interface AftermathParts {
  readonly slot: string;
  readonly owner: Pick<OwnerParts, 'clock' | 'log' | 'ready' | 'ended' | 'failed'>;
  readonly machine: SlotMachine;
  readonly waiters: Waiters<Lease>;
  readonly serving: Serving;
  readonly backoff: Backoff;
  /** Asks admission for a load. */
  begin(): void;
  /** Takes the next step. */
  settle(): void;
  /** Looks again which model the slot should hold. */
  refreshModel(): void;
}

/** What follows when an engine is ready or has ended: who is served, rest, the back-off, and what those who wait are told. */
export class Aftermath implements LifeEvents {
  readonly #parts: AftermathParts;

  constructor(parts: AftermathParts) {
    this.#parts = parts;
  }

  /** Who wanted it loaded is done, and who waits is served; a demonstration model may have to step aside at once. */
  ready(current: Current): void {
    const { owner, waiters, serving, settle, refreshModel } = this.#parts;
    waiters.satisfy();
    owner.ready(current);
    serving.rest();
    settle();
    if (current.launch.demo) refreshModel();
  }

  /** A deliberate stop is done; a failed slot whose trial was cut goes back to its failure. */
  stopped(current: Current): void {
    const { owner, machine, waiters, backoff, begin, settle } = this.#parts;
    owner.ended(current);
    if (servedLong(current.readySince, owner.clock.now())) backoff.forget();
    const { failure } = backoff;
    if (failure === null || !current.trial || current.readySince !== null) {
      machine.go('offline');
      settle();
      return;
    }
    machine.go('error');
    backoff.postpone(failure, false);
    if (waiters.held) begin();
    else this.#refuse();
  }

  /** The engine broke by itself, and what it served with it. */
  failed(current: Current, reason: string): void {
    const { slot, owner, machine, serving, backoff } = this.#parts;
    serving.cut();
    owner.ended(current);
    owner.failed(current);
    const { failures, parked } = backoff.failed(reason, current.readySince);
    machine.go('error');
    owner.log.warn({ slot, reason, failures, parked }, 'slot failed');
    this.#refuse();
  }

  /** It ended before its last answers were out: nothing is left to wait for. */
  lost(): void {
    const { serving, settle } = this.#parts;
    serving.cut();
    settle();
  }

  #refuse(): void {
    const { slot, owner, waiters, backoff } = this.#parts;
    if (backoff.failure !== null) waiters.refuse(failedError(slot, backoff.failure, owner.clock.now()));
  }
}
