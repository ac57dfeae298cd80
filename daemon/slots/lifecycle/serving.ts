import type { Clock } from './clock.ts';
import type { Current } from './controller-deps.ts';
import { IdleTimer } from './idle.ts';
import { type Lease, makeLease } from './lease.ts';
import type { SlotMachine } from './slot.ts';
import { Traffic } from './traffic.ts';

export interface ServingParts {
  readonly clock: Clock;
  readonly machine: SlotMachine;
  /** The engine that runs now. */
  current(): Current | null;
  /** Why the slot runs degraded, else null. */
  degraded(): string | null;
  /** Seconds without a request after which the slot is idle; 0 is never. */
  idleS(): number;
  /** The slot has been without a request for that long. */
  idle(): void;
  /** A request of the engine that runs now has ended. */
  ended(current: Current): void;
}

/** The requests that the engine of one slot serves: rights to send are given, counted and taken back, and idle time runs between them. */
export class Serving {
  readonly traffic = new Traffic();
  readonly #parts: ServingParts;
  readonly #idle: IdleTimer;

  constructor(parts: ServingParts) {
    this.#parts = parts;
    this.#idle = new IdleTimer(parts.clock, parts.idle);
  }

  /** Gives the right to send one request; only for a slot that is ready or serving. */
  give(): Lease {
    const { clock, machine, degraded } = this.#parts;
    const current = this.#parts.current() as Current;
    this.#idle.stop();
    this.traffic.began(clock.now());
    if (machine.is('ready')) machine.go('serving');
    return makeLease(current, degraded(), () => {
      if (this.#parts.current() === current) this.#takenBack(current);
    });
  }

  /** Nobody is served from now on: idle time runs. */
  rest(): void {
    this.#idle.start(this.#parts.idleS());
  }

  /** The engine is to leave: idle time ends, requests go on. */
  leaving(): void {
    this.#idle.stop();
  }

  /** The engine is gone, and all its requests with it. */
  cut(): void {
    this.#idle.stop();
    this.traffic.cut();
  }

  #takenBack(current: Current): void {
    const { clock, machine, ended } = this.#parts;
    this.traffic.ended(clock.now());
    if (this.traffic.active === 0 && machine.is('serving')) {
      machine.go('ready');
      this.rest();
    }
    ended(current);
  }
}
