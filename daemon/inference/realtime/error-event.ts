import { randomBytes } from 'node:crypto';
import { type GatewayError, openaiErrorType } from '../../contract/errors.ts';
import { redactSecretsIn } from '../../lib/text/redact.ts';

/**
 * Returns the `error` event that precedes the close of a refused socket. Clients of the realtime API wait for
 * events and ignore close codes.
 */
export function errorEvent(failure: GatewayError, secrets: readonly string[] = []): string {
  const { code, message, status, options } = failure;
  const error = {
    type: openaiErrorType(status),
    code,
    message,
    param: options.param ?? null,
    event_id: null,
  };
  const event = { type: 'error', event_id: `event_${randomBytes(9).toString('hex')}`, error };
  return JSON.stringify(redactSecretsIn(event, secrets));
}
