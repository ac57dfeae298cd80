import type { GatewayEvents } from '../../contract/events.ts';
import type { EventBus } from '../../lib/async/event-bus.ts';
import type { Progress } from './image-job.ts';

type ImageEvent = GatewayEvents['image'];
type About = Pick<ImageEvent, 'id' | 'request' | 'model' | 'slot'>;

/** Steps of a fast engine are told at most this often, so that they do not push other events out of the replay. */
const EVERY_MS = 500;

/** Tells the progress of one drawing as `image` events: each change of state, and steps now and then. */
export class ProgressTeller {
  readonly #bus: Pick<EventBus<GatewayEvents>, 'emit'>;
  readonly #about: About;
  readonly #now: () => number;
  #state: ImageEvent['state'] | null = null;
  #share: number | null = null;
  #toldAt = 0;

  constructor(
    bus: Pick<EventBus<GatewayEvents>, 'emit'>,
    about: About,
    now: () => number = () => performance.now(),
  ) {
    this.#bus = bus;
    this.#about = about;
    this.#now = now;
  }

  tell({ state, share }: Progress): void {
    const news = state !== this.#state || share !== this.#share;
    if (!news || (state === this.#state && this.#now() - this.#toldAt < EVERY_MS)) return;
    this.#emit(state, share);
  }

  done(): void {
    this.#emit('done', 1);
  }

  failed(): void {
    this.#emit('failed', null);
  }

  #emit(state: ImageEvent['state'], share: number | null): void {
    [this.#state, this.#share, this.#toldAt] = [state, share, this.#now()];
    const progress = share === null ? null : Math.round(share * 1000) / 1000;
    this.#bus.emit('image', { ...this.#about, state, progress });
  }
}
