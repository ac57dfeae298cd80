import type { WebSocket } from 'ws';
import type { Realtime } from '../../inference/realtime/realtime.ts';
import type { Call } from '../handler.ts';

/** `/v1/realtime`: reads the query of the handshake and passes the socket on. */
export function realtimeSocket(realtime: Realtime) {
  return (socket: WebSocket, { caller, target }: Call): void => {
    const query = new URLSearchParams(target.query);
    const model = query.get('model')?.trim() || null;
    realtime.serve(socket, {
      tier: caller.tier,
      model,
      transcription: query.get('intent') === 'transcription',
    });
  };
}
