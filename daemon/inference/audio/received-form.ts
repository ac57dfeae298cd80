import type { OutboundBody } from '../../lib/net/outbound.ts';
import type { ReceiveBody } from '../call-context.ts';
import { FormFields } from './form-fields.ts';
import type { SpoolStore } from './spool-store.ts';
import { StreamingUpload } from './streaming-upload.ts';
import { UploadBuffer } from './upload-buffer.ts';

/** A form as far as it is known: complete, or still being received. */
export interface ReceivedForm {
  readonly fields: FormFields;
  readonly body: OutboundBody;
  dispose(): void;
}

export interface FormSource {
  readonly contentType: string;
  /** Total bytes that the sender declared; NaN without a declaration. */
  readonly declaredBytes: number;
  readonly receive: ReceiveBody;
  /**
   * Called when a form fails that is already being streamed. A form that is still buffered rejects instead.
   */
  failed?(reason: Error): void;
  /** A monotonic clock in milliseconds; default `performance.now`. */
  now?(): number;
}

/** A form is streamed once this many bytes have arrived at this rate or faster (bytes, bytes per second). */
const MIN_FIRST_BYTES = 1 << 19;
const MIN_BYTES_PER_SECOND = 16 * 2 ** 20;

/**
 * Receives a form in bounded memory. Streams it to its engine while it is received if its model comes first
 * and its sender is fast. Receives any other form completely first: a slow sender then does not occupy an
 * engine, and the body can be sent again. Rejects like `receive`, and with 415 and 503.
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
    // The upload takes over the buffer as soon as it exists.
    const body = await Promise.race([uploadStarted.promise, whole.then(() => upload ?? buffer.whole())]);
    const dispose = () => {
      const reason = new Error('the form is no longer needed');
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
