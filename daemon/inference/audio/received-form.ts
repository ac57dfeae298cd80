import type { OutboundBody } from '../../lib/net/outbound.ts';
import type { CheckModel, ReceiveBody } from '../call-context.ts';
import { FormFields } from './form-fields.ts';
import type { SpoolStore } from './spool-store.ts';
import { UploadBuffer } from './upload-buffer.ts';

/** A form that was received completely. */
export interface ReceivedForm {
  readonly fields: FormFields;
  readonly body: OutboundBody;
  dispose(): void;
}

export interface FormSource {
  readonly contentType: string;
  readonly receive: ReceiveBody;
  /** Throws when nothing serves a model. */
  readonly check?: CheckModel;
}

/**
 * Receives a form completely in bounded memory: up to 1 MiB in a buffer, a longer one in the spool folder. A slow sender
 * then does not occupy an engine, and the body can be sent again. Rejects like `receive`, with 415, 422 and 503, and like
 * `check` when the form names its model before its end.
 */
export async function receiveForm(
  { contentType, receive, check }: FormSource,
  spools: SpoolStore,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  const fields = new FormFields(contentType);
  const buffer = new UploadBuffer(spools);
  let isChecked = check === undefined;
  const checkOnce = async (model: string, stored: Promise<void> | undefined): Promise<void> => {
    isChecked = true;
    await Promise.all([check?.(model), stored]);
  };
  try {
    await receive((chunk) => {
      // A form of one chunk is checked at its end, like every other request.
      const { model } = isChecked ? { model: null } : fields;
      fields.push(chunk);
      const stored = buffer.push(chunk);
      return model === null ? stored : checkOnce(model, stored);
    }, signal);
    return { fields, body: await buffer.whole(), dispose: () => buffer.dispose() };
  } catch (error) {
    buffer.dispose();
    throw error;
  }
}
