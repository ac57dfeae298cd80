import type { GatewayEvents } from '../../contract/events.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import type { Progress } from './image-job.ts';

type ImageEvent = GatewayEvents['image'];
type ImageEventBase = Pick<ImageEvent, 'id' | 'request' | 'model' | 'slot'>;

/** Minimum interval between step events, so that they do not push other events out of the replay buffer. */
const MIN_INTERVAL_MS = 500;

/** Emits the progress of one job as `image` events: each change of state, and throttled steps. */
export class ProgressEmitter {
  readonly #bus: Pick<EventBus<GatewayEvents>, 'emit'>;
  readonly #base: ImageEventBase;
  readonly #now: () => number;
  #state: ImageEvent['state'] | null = null;
  #fraction: number | null = null;
  #emittedAt = 0;

  constructor(
    bus: Pick<EventBus<GatewayEvents>, 'emit'>,
    about: ImageEventBase,
    now: () => number = () => performance.now(),
  ) {
    this.#bus = bus;
    this.#base = about;
    this.#now = now;
  }

  emit({ state, fraction }: Progress): void {
    const news = state !== this.#state || fraction !== this.#fraction;
    if (!news || (state === this.#state && this.#now() - this.#emittedAt < MIN_INTERVAL_MS)) return;
    this.#publish(state, fraction);
  }

  done(): void {
    this.#publish('done', 1);
  }

  failed(): void {
    this.#publish('failed', null);
  }

  #publish(state: ImageEvent['state'], share: number | null): void {
    [this.#state, this.#fraction, this.#emittedAt] = [state, share, this.#now()];
    const progress = share === null ? null : Math.round(share * 1000) / 1000;
    this.#bus.emit('image', { ...this.#base, state, progress });
  }
}
