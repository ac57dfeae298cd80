import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { HubStatus } from '../hub/hub-status.ts';
import { delayMs, permanentError } from './backoff.ts';
import { MismatchedResponse, type TransferOptions, transfer } from './transfer.ts';

export type FetchOptions = Omit<TransferOptions, 'etag'> & {
  /** Returns the currently known entity tag. */
  etag(): string | null;
  /** First delay in milliseconds. */
  readonly baseMs: number;
  /** Called before a retry with the number of consecutive failures. */
  retrying(failures: number): void;
};

/**
 * Downloads a file and resumes at the exact byte after a broken connection. Discards data that is no part of
 * the file. Rejects with the signal's reason, or with GatewayError `pull.*` when a retry is useless.
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
