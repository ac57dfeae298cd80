import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';

/** Seconds after which a refused caller may reach the next gateway process. */
const RETRY_AFTER_S = 5;

/** Counts responses in progress and drains them at a stop (setting `server.drain_limit_s`). */
export class Drain {
  #active = 0;
  #idle: (() => void) | null = null;
  #hasStarted = false;
  readonly #refuses: (req: IncomingMessage) => boolean;

  /** `refuses`: the requests that are refused before the drain begins; default: none. */
  constructor(refuses: (req: IncomingMessage) => boolean = () => false) {
    this.#refuses = refuses;
  }

  /** True once new requests are refused. */
  get isDraining(): boolean {
    return this.#hasStarted;
  }

  /** Whether at most one response is in progress. */
  get isSingle(): boolean {
    return this.#active <= 1;
  }

  /** Throws `slot.draining` for a request that arrives during a drain. Counts the response of any other. */
  admit(req: IncomingMessage, res: ServerResponse): void {
    if (this.#hasStarted || this.#refuses(req)) throw drainingError();
    this.track(res);
  }

  /** Counts one response until it ends or fails. */
  track(res: ServerResponse): void {
    this.#active++;
    res.once('close', () => {
      this.#active--;
      if (this.#active === 0) this.#idle?.();
    });
  }

  /** Refuses new requests. Resolves when no response is in progress, or after `limitMs`. */
  async begin(limitMs: number): Promise<void> {
    this.#hasStarted = true;
    if (this.#active === 0) return;
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, limitMs);
      this.#idle = () => {
        clearTimeout(limit);
        resolve();
      };
    });
  }
}

const drainingError = (): GatewayError =>
  new GatewayError('slot.draining', {
    retryAfterS: RETRY_AFTER_S,
    headers: { connection: 'close' },
    isLogged: true,
  });
