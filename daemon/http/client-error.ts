import type { Socket } from 'node:net';
import { GatewayError } from '../contract/errors.ts';
import { newRequestId } from '../lib/request-id.ts';
import { currentResponse } from './current-response.ts';
import { bareRefusal } from './error-envelope.ts';
import { halfClose } from './lingering-close.ts';

const TOO_LARGE = () =>
  new GatewayError('request.malformed', { status: 431, message: 'The headers are larger than 16 KiB.' });

/** What the parser of Node refuses for another reason than being malformed. */
const REASONS: Record<string, () => GatewayError> = {
  HPE_HEADER_OVERFLOW: TOO_LARGE,
  ERR_HTTP_REQUEST_TIMEOUT: () => new GatewayError('request.timeout'),
};

/**
 * Answers what the parser refused (`clientError`) with our envelope and closes. In the middle of another answer
 * nothing can be said: those bytes would be read as part of it.
 */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET' || currentResponse(socket)?.headersSent) {
    socket.destroy();
    return;
  }
  const refusal = REASONS[error.code ?? '']?.() ?? new GatewayError('request.malformed');
  halfClose(socket, bareRefusal(refusal, 'api', newRequestId()));
}
