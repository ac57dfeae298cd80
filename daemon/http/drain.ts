import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import { newRequestId } from '../lib/request-id.ts';
import { dialectOf } from './call.ts';
import { sendError } from './error-envelope.ts';
import { baseHeaders } from './headers.ts';
import type { PipelineDeps } from './pipeline.ts';

/** Seconds after which a caller who was turned away may find the gateway that follows this one. */
const RETRY_AFTER_S = 5;

/** Answers under way, and what becomes of those who come once the gateway drains (setting `server.drain_limit_s`). */
export class Drain {
  #active = 0;
  #idle: (() => void) | null = null;
  #begun = false;

  /** True once nobody new is taken. */
  get isDraining(): boolean {
    return this.#begun;
  }

  /** Whether no more than one answer is under way. */
  get isSingle(): boolean {
    return this.#active <= 1;
  }

  /** Follows one answer to its end, however that comes. */
  track(res: ServerResponse): void {
    this.#active++;
    res.once('close', () => {
      this.#active--;
      if (this.#active === 0) this.#idle?.();
    });
  }

  /** Takes nobody new; resolves when no answer is under way any more, or after `limitMs`. */
  async begin(limitMs: number): Promise<void> {
    this.#begun = true;
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

/** 503 for those who come while the gateway drains. */
const drainingError = (): GatewayError =>
  new GatewayError('slot.draining', { retryAfterS: RETRY_AFTER_S, headers: { connection: 'close' } });

/** Answers one who comes while the gateway drains, before anything about the request is looked at. */
export function refuseWhileDraining(
  { secrets, refused }: Pick<PipelineDeps, 'secrets' | 'refused'>,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  baseHeaders(res, newRequestId());
  refused('slot.draining');
  sendError(req, res, drainingError(), dialectOf(req.url ?? ''), secrets());
}
