import type { RouteId } from '../../../../daemon/contract/routes.ts';
import { ApiError, lost } from '../../../api/api-error.ts';
import { type CallOptions, send } from '../../../api/client.ts';

/** Metadata of a response. */
export interface ResponseMeta {
  /** The slot or upstream that served the request. */
  readonly by: string | null;
  readonly requestId: string | null;
  /** Milliseconds until the whole response had arrived. */
  readonly ms: number;
}

export function responseMeta(headers: Headers, began: number): ResponseMeta {
  return {
    by: headers.get('x-svc-slot') ?? headers.get('x-svc-upstream'),
    requestId: headers.get('x-request-id'),
    ms: performance.now() - began,
  };
}

const broken = (): ApiError =>
  new ApiError({ ...lost().info, message: 'The response was interrupted or is not valid JSON.' });

/** Sends a request and parses the JSON response. Has no timeout, because a model may load for minutes. Throws ApiError. */
export async function requestJson<T>(
  id: RouteId,
  options: CallOptions,
): Promise<{ value: T; meta: ResponseMeta }> {
  const began = performance.now();
  const answer = await send(id, options, null);
  const value = await answer.json().catch(() => {
    options.signal?.throwIfAborted();
    throw broken();
  });
  return { value: value as T, meta: responseMeta(answer.headers, began) };
}

/**
 * Sends a request and reads the response as bytes. Throws beyond `maxBytes` bytes. Also returns the time to the first byte in
 * milliseconds.
 */
export async function requestBytes(
  id: RouteId,
  options: CallOptions,
  maxBytes: number,
): Promise<{ bytes: Blob; firstMs: number; meta: ResponseMeta }> {
  const began = performance.now();
  const answer = await send(id, options, null);
  if (answer.body === null) throw lost();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let firstMs = 0;
  let size = 0;
  try {
    for await (const part of answer.body) {
      firstMs ||= performance.now() - began;
      size += part.length;
      if (size > maxBytes) throw new Error('The response is too large for this page.');
      parts.push(part as Uint8Array<ArrayBuffer>);
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (size > maxBytes) throw error;
    throw broken();
  }
  const type = answer.headers.get('content-type') ?? '';
  return { bytes: new Blob(parts, { type }), firstMs, meta: responseMeta(answer.headers, began) };
}
