import { GatewayError } from '../../contract/errors.ts';
import type { CallEnd } from '../../upstreams/call-meaning.ts';
import { InBandError } from './in-band-error.ts';

/** The status of the response as the caller received it. */
export interface ResponseStatus {
  readonly status: number;
}

/**
 * Returns what the end of an exchange means for the upstream; null when it means nothing (client disconnect,
 * cancellation, shutdown).
 */
export function callEnd(failure: unknown, answer: ResponseStatus): CallEnd {
  if (failure === null) return answer;
  if (failure instanceof InBandError) return answer.status < 300 ? fromInBandError(failure) : answer;
  if (!(failure instanceof GatewayError)) return null;
  const { cause, code, options } = failure;
  if (code === 'dispatch.capability_mismatch') return { lacks: 'count' };
  const status = options.details?.upstream_status;
  // The mask reports a failure of the engine as the caller's fault; which of both is unknown.
  if (code === 'audio.unsupported_format' && status !== 429 && status !== 503) return null;
  if (typeof status === 'number') return { status };
  if (code === 'context_length_exceeded') return { status: failure.status };
  return cause === undefined ? null : { failed: cause };
}

/**
 * Handles a failure inside a response that began well. A key that is refused inside a response is not ours,
 * because ours was accepted before.
 */
function fromInBandError({ status }: InBandError): CallEnd {
  return status === null || status === 401 || status === 403 ? null : { status };
}
