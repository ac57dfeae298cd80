import type { OutboundBody } from '../../lib/net/outbound.ts';
import type { ReceiveBody } from '../serve.ts';
import { FormFields } from './form-fields.ts';
import type { SpoolStore } from './spool-store.ts';
import { StreamingUpload } from './streaming-upload.ts';
import { UploadBuffer } from './upload-buffer.ts';

/** A form as far as it is known: whole, or on its way. */
export interface ReceivedForm {
  readonly fields: FormFields;
  readonly body: OutboundBody;
  dispose(): void;
}

export interface FormSource {
  readonly contentType: string;
  /** Bytes of the whole form as its sender has declaredBytes them; NaN when it has not. */
  readonly declaredBytes: number;
  readonly receive: ReceiveBody;
  /** Why a form ends that goes on already; a form that is waited for rejects instead. */
  failed?(reason: Error): void;
  /** Milliseconds of a steady clock; default that of this process. */
  now?(): number;
}

/** A form goes on at once when its first bytes, so many of them, came at this rate or faster (bytes and bytes per second). */
const MIN_FIRST_BYTES = 1 << 19;
const MIN_BYTES_PER_SECOND = 16 * 2 ** 20;

/**
 * Takes a form, in memory that does not grow with it. One whose model comes first goes on to its engine as it comes, if its
 * sender is fast. Every other one is taken whole before anything is done with it: an engine is not held up by a slow sender, and
 * what it is sent can be sent again. Rejects with what `receive` rejects with, 415 and 503.
 */
export async function receiveForm(
  source: FormSource,
  spools: SpoolStore,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  const { contentType, declaredBytes, receive, failed, now = () => performance.now() } = source;
  const fields = new FormFields(contentType);
  const buffer = new UploadBuffer(spools);
  const over = new AbortController();
  const since = now();
  const uploadStarted = Promise.withResolvers<StreamingUpload>();
  let upload: StreamingUpload | null = null;
  const canStream = () =>
    fields.hasModel &&
    declaredBytes > buffer.bytes &&
    buffer.bytes >= MIN_FIRST_BYTES &&
    buffer.bytes / (now() - since) >= MIN_BYTES_PER_SECOND / 1000;
  const whole = receive(
    (chunk) => {
      fields.push(chunk);
      if (upload !== null) {
        fields.assertSingleModel();
        return upload.push(chunk);
      }
      const waits = buffer.push(chunk);
      if (!buffer.stored && canStream()) {
        upload = new StreamingUpload(declaredBytes, buffer);
        uploadStarted.resolve(upload);
      }
      return waits;
    },
    AbortSignal.any([signal, over.signal]),
  );
  whole.then(
    () => upload?.end(),
    (error: Error) => {
      upload?.fail(error);
      if (upload !== null && !over.signal.aborted) failed?.(error);
    },
  );
  try {
    // What is kept belongs to the flow as soon as there is one.
    const body = await Promise.race([uploadStarted.promise, whole.then(() => upload ?? buffer.whole())]);
    const dispose = () => {
      const reason = new Error('the form is not wanted any more');
      over.abort(reason);
      upload?.fail(reason);
      buffer.dispose();
    };
    return { fields, body, dispose };
  } catch (error) {
    buffer.dispose();
    throw error;
  }
}
