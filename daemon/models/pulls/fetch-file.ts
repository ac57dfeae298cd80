import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { HubStatus } from '../hub/hub-status.ts';
import { delayMs, describeFailure, permanentError } from './backoff.ts';
import { MismatchedResponse, type TransferOptions, transfer } from './transfer.ts';

export type FetchOptions = Omit<TransferOptions, 'etag'> & {
  /** Returns the currently known entity tag. */
  etag(): string | null;
  /** First delay in milliseconds. */
  readonly baseMs: number;
  /** Called before a retry with the number of consecutive failures and the reason of the last one. */
  retrying(failures: number, reason: string): void;
};

/** Returns whether existing data is useless after this response, the nth in a row that does not fit. */
const isDiscarded = ({ mismatch }: MismatchedResponse, wrong: number): boolean =>
  mismatch === 'changed' || (mismatch === 'differs' && wrong > 1);

/**
 * Downloads a file and resumes at the exact byte after a broken connection. Existing data is discarded only when the server
 * has other content, or contradicts it twice in a row. Rejects with the signal's reason, or with GatewayError `pull.*`
 * when a retry is useless.
 */
export async function fetchFile(order: FetchOptions): Promise<void> {
  let [failures, wrong, best] = [0, 0, 0];
  for (;;) {
    let bytes = 0;
    const reached = (count: number) => {
      bytes = count;
      order.reached(count);
    };
    try {
      return await transfer({ ...order, reached, etag: order.etag() });
    } catch (error) {
      order.signal.throwIfAborted();
      const isMismatch = error instanceof MismatchedResponse;
      const hasGrown = bytes > best;
      failures = hasGrown ? 1 : failures + 1;
      wrong = (hasGrown ? 0 : wrong) + (isMismatch ? 1 : 0);
      best = Math.max(best, bytes);
      if (isMismatch && isDiscarded(error, wrong)) {
        await rm(order.part, { force: true });
        order.tagged(null);
        order.reached(0);
      }
      const end = permanentError({ error, failures, mismatches: wrong });
      if (end !== null) throw end;
      order.retrying(failures, describeFailure(error));
      const wait = error instanceof HubStatus ? error.retryAfterS : null;
      await pause(delayMs(failures, wait, order.baseMs), undefined, { signal: order.signal });
    }
  }
}
