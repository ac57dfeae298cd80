import { GatewayError } from '../../contract/errors.ts';
import type { CallEnd } from '../../upstreams/upstream.ts';
import { InBandError } from './in-band-error.ts';

/** The whole answer as the caller got it. */
export interface ResponseStatus {
  readonly status: number;
}

/** What the end of an exchange says of the upstream behind it; null when it says nothing (the caller left, a cancel, a stop). */
export function callEnd(failure: unknown, answer: ResponseStatus): CallEnd {
  if (failure === null) return answer;
  if (failure instanceof InBandError) return answer.status < 300 ? fromInBandError(failure) : answer;
  if (!(failure instanceof GatewayError)) return null;
  const { cause, code, options } = failure;
  if (code === 'dispatch.capability_mismatch') return { lacks: 'count' };
  const status = options.details?.upstream_status;
  if (typeof status === 'number') return { status };
  if (code === 'context_length_exceeded') return { status: failure.status };
  return cause === undefined ? null : { failed: cause };
}

/** A failure inside an answer that began well. That a key was refused there is no word about ours, which had let it begin. */
function fromInBandError({ status }: InBandError): CallEnd {
  return status === null || status === 401 || status === 403 ? null : { status };
}
