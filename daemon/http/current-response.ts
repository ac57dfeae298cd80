import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Returns the response that is being written on this socket, as Node itself does before it writes to a bare
 * socket.
 */
export const currentResponse = (socket: Socket): ServerResponse | null | undefined =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
