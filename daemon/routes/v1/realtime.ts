import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import { ERRORS } from '../../contract/errors.ts';

/**
 * `/v1/realtime`: the door is guarded like every other; the voice pipeline behind it is not there yet, and the
 * caller is told so in the protocol's own words (a typed error event) before the socket closes.
 */
export function realtimeSocket(socket: WebSocket): void {
  const { message } = ERRORS['realtime.unavailable'];
  const event = {
    type: 'error',
    event_id: `event_${randomUUID()}`,
    error: { type: 'server_error', code: 'realtime.unavailable', message, param: null, event_id: null },
  };
  socket.send(JSON.stringify(event), () => socket.close(1013, 'realtime.unavailable'));
}
