import type { Lease, ReadyOptions } from '../../slots/lifecycle/lease.ts';
import type { Life } from './call-scope.ts';
import type { Answer } from './response-writer.ts';

/** A longer load is reported to a streaming caller, and then repeatedly (docs/spec/contract.md#load-wait). */
export const TELL_AFTER_MS = 3_000;
export const TELL_EVERY_MS = 10_000;

export interface WaitOptions {
  readonly slots: { ensureReady(name: string, options: ReadyOptions): Promise<Lease> };
  readonly life: Life;
  readonly answer: Answer;
  /** Whether the caller asked for a stream. */
  readonly stream: boolean;
  readonly priority: 'interactive' | 'batch';
  /** The model id that the caller named; null for one who named a slot. */
  readonly modelId?: string | null;
  /** Overrides the times of docs/spec/contract.md#load-wait in tests. */
  readonly tellAfterMs?: number;
  readonly tellEveryMs?: number;
}

/**
 * Waits until a slot is ready and it is this call's turn. The status stays open until admission has decided; from 3 s
 * after that a streaming caller has 200 and gets a comment each 10 s. Throws what the slot throws, limits included.
 */
export async function awaitLease(name: string, options: WaitOptions): Promise<Lease> {
  const { slots, life, answer, stream, priority, modelId } = options;
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    answer.beginWaiting();
    timer = setInterval(() => answer.comment('loading'), options.tellEveryMs ?? TELL_EVERY_MS);
  };
  let over = false;
  const onDecided = () => {
    if (stream && !over && !life.ended) timer ??= setTimeout(tell, options.tellAfterMs ?? TELL_AFTER_MS);
  };
  try {
    return await slots.ensureReady(name, {
      signal: life.signal,
      stream,
      priority,
      modelId,
      onDecided,
    });
  } finally {
    over = true;
    clearTimeout(timer);
  }
}
