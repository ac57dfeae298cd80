import type { Auth } from '../../auth/auth.ts';
import type { Realtime } from '../../inference/realtime/realtime.ts';
import { readCallerInfo } from '../../telemetry/caller-info.ts';
import type { SocketHandler } from '../handler.ts';

/** `/v1/realtime`: reads the query of the handshake and passes the socket on. */
export const realtimeSocket =
  (realtime: Realtime, auth: Pick<Auth, 'address'>): SocketHandler =>
  ({ websocket, state, querystring }) => {
    const query = new URLSearchParams(querystring);
    const model = query.get('model')?.trim() || null;
    realtime.serve(websocket, {
      tier: state.caller.tier,
      caller: readCallerInfo(state.auth.headers, auth.address(state.auth)),
      model,
      transcription: query.get('intent') === 'transcription',
    });
  };
