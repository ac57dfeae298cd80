import type { Lease, ReadyOptions } from '../../slots/lifecycle/lease.ts';
import type { CallScope } from './call-scope.ts';
import type { ResponseWriter } from './response-writer.ts';

/**
 * Delay after which a load is reported to a streaming caller, and the interval of further reports
 * (docs/spec/contract.md#load-wait).
 */
export const REPORT_AFTER_MS = 3_000;
export const REPORT_EVERY_MS = 10_000;

export interface AwaitLeaseOptions {
  readonly slots: { ensureReady(name: string, options: ReadyOptions): Promise<Lease> };
  readonly scope: CallScope;
  readonly response: ResponseWriter;
  /** Whether the caller waits as long as one that requested a stream. */
  readonly stream: boolean;
  /** Whether the load is reported inside the response, which must be a stream then; default as `stream`. */
  readonly reports?: boolean;
  readonly priority: 'interactive' | 'batch';
  /** Size of the request body. */
  readonly bytes?: number;
  /** The model id that the caller named; null for a caller who named a slot. */
  readonly modelId?: string | null;
  /** Overrides the times of docs/spec/contract.md#load-wait in tests. */
  readonly reportAfterMs?: number;
  readonly reportEveryMs?: number;
}

/**
 * Waits until a slot is ready and grants a lease. The status stays open until admission has decided. From 3 s
 * after that, a streaming caller has status 200 and receives a comment every 10 s. Throws what the slot
 * throws, limits included.
 */
export async function awaitLease(name: string, options: AwaitLeaseOptions): Promise<Lease> {
  const { slots, scope, response, stream, reports = stream, priority, bytes, modelId } = options;
  let timer: NodeJS.Timeout | undefined;
  const startReports = () => {
    response.beginWaiting();
    timer = setInterval(() => response.comment('loading'), options.reportEveryMs ?? REPORT_EVERY_MS);
  };
  let isDone = false;
  const onDecided = () => {
    if (reports && !isDone && !scope.endReason)
      timer ??= setTimeout(startReports, options.reportAfterMs ?? REPORT_AFTER_MS);
  };
  try {
    return await slots.ensureReady(name, {
      signal: scope.signal,
      stream,
      priority,
      ...(bytes === undefined ? {} : { bytes }),
      modelId,
      onDecided,
    });
  } finally {
    isDone = true;
    clearTimeout(timer);
  }
}
