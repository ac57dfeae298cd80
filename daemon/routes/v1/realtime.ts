import type { Realtime } from '../../inference/realtime/realtime.ts';
import type { SocketHandler } from '../handler.ts';

/** `/v1/realtime`: reads the query of the handshake and passes the socket on. */
export const realtimeSocket =
  (realtime: Realtime): SocketHandler =>
  ({ websocket, state, querystring }) => {
    const query = new URLSearchParams(querystring);
    const model = query.get('model')?.trim() || null;
    realtime.serve(websocket, {
      tier: state.caller.tier,
      model,
      transcription: query.get('intent') === 'transcription',
    });
  };
