import type { Socket } from 'node:net';
import { GatewayError } from '../contract/errors.ts';
import { newRequestId } from '../lib/request-id.ts';
import { currentResponse } from './current-response.ts';
import { bareRefusal } from './error-envelope.ts';
import { halfClose } from './lingering-close.ts';

const TOO_LARGE = () =>
  new GatewayError('request.malformed', { status: 431, message: 'The headers are larger than 16 KiB.' });

/** Errors of Node's parser other than malformed requests. */
const REASONS: Record<string, () => GatewayError> = {
  HPE_HEADER_OVERFLOW: TOO_LARGE,
  ERR_HTTP_REQUEST_TIMEOUT: () => new GatewayError('request.timeout'),
};

/**
 * Responds to a parser error (`clientError`) with the error envelope and closes the socket. Within another
 * response the socket is only closed, because the bytes would be read as part of that response.
 */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET' || currentResponse(socket)?.headersSent) {
    socket.destroy();
    return;
  }
  const refusal = REASONS[error.code ?? '']?.() ?? new GatewayError('request.malformed');
  halfClose(socket, bareRefusal(refusal, 'api', newRequestId()));
}
