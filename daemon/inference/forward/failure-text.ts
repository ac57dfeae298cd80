import { GatewayError } from '../../contract/errors.ts';
import type { FailureText } from '../../telemetry/request-trace.ts';
import type { InBandError } from './in-band-error.ts';

/** Returns the message that the caller received, and the reason of its details; null without a failure. */
export function failureText(failure: GatewayError | InBandError | null): FailureText | null {
  if (failure === null) return null;
  if (!(failure instanceof GatewayError)) return { message: failure.message, reason: null };
  const { reason } = failure.options.details ?? {};
  return { message: failure.message, reason: typeof reason === 'string' ? reason : null };
}
