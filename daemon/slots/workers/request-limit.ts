import { Semaphore } from '../../lib/async/semaphore.ts';
import { Refusal } from './refusal.ts';

/** Creates the error for a request that an engine has no room to queue. */
export const queueFull = (): Refusal =>
  new Refusal('slot.queue_full', 'The queue of this engine is full.', { status: 429 });

/** Limits the requests of an engine that run at once. Refuses a request with 429 when `maxQueued` others wait. */
export const requestLimit = (permits: number, maxQueued: number): Semaphore =>
  new Semaphore({ permits, maxQueued, queueFull });

/** Returns the activity of an engine that generates no tokens. */
export const statsOf = ({ active, queued }: Semaphore) => ({ active, queued, tokens_generated: 0 });
