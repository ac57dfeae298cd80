import { ERRORS, isErrorCode } from '../../../../daemon/contract/errors.ts';
import type { ServerEvent } from '../../../../daemon/contract/realtime.ts';
import { ApiError, lost } from '../../../api/api-error.ts';
import { addressOf } from '../../../api/client.ts';

/** Longest wait for the first event of a session. */
const OPEN_MS = 15_000;
/** Bytes that wait to be sent before sound is left out or waits itself: a connection that is too slow. */
const MOST_WAITING = 1_000_000;
const LOOK_MS = 20;

/** The address of live voice on this gateway, as a WebSocket names it. */
export function voiceAddress(origin: string, model: string): string {
  return `${origin.replace(/^http/, 'ws')}${addressOf('v1.realtime', { query: { model } })}`;
}

/** What a close says: the gateway closes with a code of its catalogue as the reason. */
export function closeFailure(code: number, reason: string): ApiError {
  const row = isErrorCode(reason) ? ERRORS[reason] : null;
  const plain =
    code === 4408 ? 'Nothing happened for a quarter of an hour, so the gateway ended the session.' : null;
  return new ApiError({
    ...lost().picture,
    code: row === null ? 'realtime.closed' : reason,
    message: row?.message ?? plain ?? 'The connection to the gateway was cut.',
    advice: row?.advice ?? 'Start again; the transcript stays here.',
  });
}

const soundEvent = (audio: string) => ({ type: 'input_audio_buffer.append', audio });

/** A session of live voice. */
export interface VoiceSocket {
  send(event: Record<string, unknown>): void;
  /** Sound of a live microphone, which is left out while the connection is too slow for it. */
  sendSound(audio: string): void;
  /** The same for sound that must come whole: waits until the connection takes it, or has ended. Never rejects. */
  sendWhole(audio: string): Promise<void>;
}

/**
 * Opens a session, which lasts until the signal ends it; resolves once the gateway has greeted. `onClose` hears of an
 * end that nobody here asked for. Throws ApiError, and the reason of the signal when that came first.
 */
export function openVoice(
  model: string,
  onEvent: (event: ServerEvent) => void,
  onClose: (failure: ApiError) => void,
  signal: AbortSignal,
): Promise<VoiceSocket> {
  const socket = new WebSocket(voiceAddress(location.origin, model));
  const write = (event: Record<string, unknown>): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(event));
  };
  return new Promise((resolve, reject) => {
    let greeted = false;
    const end = (reason: unknown): void => {
      clearTimeout(late);
      socket.onmessage = socket.onclose = null;
      socket.close(1000);
      reject(reason);
    };
    const late = setTimeout(() => end(lost()), OPEN_MS);
    signal.addEventListener('abort', () => end(signal.reason), { once: true });
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(String(data)) as ServerEvent;
      onEvent(event);
      if (greeted) return;
      greeted = true;
      clearTimeout(late);
      resolve({
        send: write,
        sendSound: (audio) => {
          if (socket.bufferedAmount < MOST_WAITING) write(soundEvent(audio));
        },
        sendWhole: async (audio) => {
          while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount >= MOST_WAITING)
            await new Promise((look) => setTimeout(look, LOOK_MS));
          write(soundEvent(audio));
        },
      });
    };
    socket.onclose = ({ code, reason }) => {
      clearTimeout(late);
      const failure = reason === '' && !greeted ? lost() : closeFailure(code, reason);
      if (greeted) onClose(failure);
      else reject(failure);
    };
  });
}
