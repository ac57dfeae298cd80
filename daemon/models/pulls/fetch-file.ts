import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { HubStatus } from '../hub/hub-status.ts';
import { delayMs, permanentError } from './backoff.ts';
import { MismatchedResponse, type TransferOptions, transfer } from './transfer.ts';

export type FetchOptions = Omit<TransferOptions, 'etag'> & {
  /** The tag that is known at this moment. */
  etag(): string | null;
  /** The first wait, milliseconds. */
  readonly baseMs: number;
  /** A try failed and the next one comes; failures in a row. */
  retrying(failures: number): void;
};

/**
 * Fetches a file however often its connection breaks, from where it broke; what is no part of the file is thrown away.
 * Rejects with the signal's reason, or with GatewayError `pull.*` when trying again is of no use.
 */
export async function fetchFile(order: FetchOptions): Promise<void> {
  let [failures, wrong, best] = [0, 0, 0];
  for (;;) {
    let most = 0;
    const reached = (bytes: number) => {
      most = Math.max(most, bytes);
      order.reached(bytes);
    };
    try {
      return await transfer({ ...order, reached, etag: order.etag() });
    } catch (error) {
      order.signal.throwIfAborted();
      failures = most > best ? 1 : failures + 1;
      best = Math.max(best, most);
      if (error instanceof MismatchedResponse) {
        wrong += 1;
        await rm(order.part, { force: true });
        order.tagged(null);
        order.reached(0);
      }
      const end = permanentError({
        error,
        failures,
        mismatches: wrong,
        withToken: order.endpoint.token !== null,
      });
      if (end !== null) throw end;
      order.retrying(failures);
      const wait = error instanceof HubStatus ? error.retryAfterS : null;
      await pause(delayMs(failures, wait, order.baseMs), undefined, { signal: order.signal });
    }
  }
}
