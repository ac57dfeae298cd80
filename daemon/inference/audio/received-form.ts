import type { OutboundBody } from '../../lib/net/outbound.ts';
import type { Receive } from '../serve.ts';
import { FormFields } from './form-fields.ts';
import type { Spools } from './spool-store.ts';
import { Flow } from './streaming-upload.ts';
import { Kept } from './upload-buffer.ts';

/** A form as far as it is known: whole, or on its way. */
export interface ReceivedForm {
  readonly fields: FormFields;
  readonly body: OutboundBody;
  dispose(): void;
}

export interface FormSource {
  readonly contentType: string;
  /** Bytes of the whole form as its sender has declared them; NaN when it has not. */
  readonly declared: number;
  readonly receive: Receive;
  /** Why a form ends that goes on already; a form that is waited for rejects instead. */
  failed?(reason: Error): void;
  /** Milliseconds of a steady clock; default that of this process. */
  now?(): number;
}

/** A form goes on at once when its first bytes, so many of them, came at this rate or faster (bytes and bytes per second). */
const FIRST_BYTES = 1 << 19;
const FAST = 16 * 2 ** 20;

/**
 * Takes a form, in memory that does not grow with it. One whose model comes first goes on to its engine as it comes, if its
 * sender is fast. Every other one is taken whole before anything is done with it: an engine is not held up by a slow sender, and
 * what it is sent can be sent again. Rejects with what `receive` rejects with, 415 and 503.
 */
export async function receiveForm(
  source: FormSource,
  spools: Spools,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  const { contentType, declared, receive, failed, now = () => performance.now() } = source;
  const fields = new FormFields(contentType);
  const kept = new Kept(spools);
  const over = new AbortController();
  const since = now();
  const flows = Promise.withResolvers<Flow>();
  let flow: Flow | null = null;
  const goesOn = () =>
    fields.named &&
    declared > kept.bytes &&
    kept.bytes >= FIRST_BYTES &&
    kept.bytes / (now() - since) >= FAST / 1000;
  const whole = receive(
    (chunk) => {
      fields.push(chunk);
      if (flow !== null) {
        fields.once();
        return flow.push(chunk);
      }
      const waits = kept.push(chunk);
      if (!kept.stored && goesOn()) {
        flow = new Flow(declared, kept);
        flows.resolve(flow);
      }
      return waits;
    },
    AbortSignal.any([signal, over.signal]),
  );
  whole.then(
    () => flow?.end(),
    (error: Error) => {
      flow?.fail(error);
      if (flow !== null && !over.signal.aborted) failed?.(error);
    },
  );
  try {
    // What is kept belongs to the flow as soon as there is one.
    const body = await Promise.race([flows.promise, whole.then(() => flow ?? kept.whole())]);
    const dispose = () => {
      const reason = new Error('the form is not wanted any more');
      over.abort(reason);
      flow?.fail(reason);
      kept.dispose();
    };
    return { fields, body, dispose };
  } catch (error) {
    kept.dispose();
    throw error;
  }
}
