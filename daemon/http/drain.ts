import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import { newRequestId } from '../lib/request-id.ts';
import { dialectOf } from './call.ts';
import { sendError } from './error-envelope.ts';
import { baseHeaders } from './headers.ts';
import type { PipelineDeps } from './pipeline.ts';

/** Seconds after which a refused caller may reach the next gateway process. */
const RETRY_AFTER_S = 5;

/** Counts responses in progress and drains them at a stop (setting `server.drain_limit_s`). */
export class Drain {
  #active = 0;
  #idle: (() => void) | null = null;
  #hasStarted = false;

  /** True once new requests are refused. */
  get isDraining(): boolean {
    return this.#hasStarted;
  }

  /** Whether at most one response is in progress. */
  get isSingle(): boolean {
    return this.#active <= 1;
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

/** 503 for requests that arrive while the gateway drains. */
const drainingError = (): GatewayError =>
  new GatewayError('slot.draining', { retryAfterS: RETRY_AFTER_S, headers: { connection: 'close' } });

/** Refuses a request that arrives while the gateway drains, before inspecting it. */
export function refuseWhileDraining(
  { secrets, refused }: Pick<PipelineDeps, 'secrets' | 'refused'>,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  baseHeaders(res, newRequestId());
  refused('slot.draining');
  sendError(req, res, drainingError(), dialectOf(req.url ?? ''), secrets());
}
