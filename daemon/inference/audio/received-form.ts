import type { OutboundBody } from '../../lib/net/outbound.ts';
import type { ReceiveBody } from '../call-context.ts';
import { FormFields } from './form-fields.ts';
import type { SpoolStore } from './spool-store.ts';
import { UploadBuffer } from './upload-buffer.ts';

/** A form that was received completely. */
export interface ReceivedForm {
  readonly fields: FormFields;
  readonly body: OutboundBody;
  dispose(): void;
}

/**
 * Receives a form completely in bounded memory: up to 1 MiB in a buffer, a longer one in the spool folder. A slow sender
 * then does not occupy an engine, and the body can be sent again. Rejects like `receive`, and with 415, 422 and 503.
 */
export async function receiveForm(
  { contentType, receive }: { readonly contentType: string; readonly receive: ReceiveBody },
  spools: SpoolStore,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  const fields = new FormFields(contentType);
  const buffer = new UploadBuffer(spools);
  try {
    await receive((chunk) => {
      fields.push(chunk);
      return buffer.push(chunk);
    }, signal);
    return { fields, body: await buffer.whole(), dispose: () => buffer.dispose() };
  } catch (error) {
    buffer.dispose();
    throw error;
  }
}
