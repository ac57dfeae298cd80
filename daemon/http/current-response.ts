import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The answer on this socket that is being written now, as Node itself asks before it speaks on a bare socket. */
export const currentResponse = (socket: Socket): ServerResponse | null | undefined =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
