import { ERRORS, isErrorCode } from '../../../../daemon/contract/errors.ts';
import type { ServerEvent } from '../../../../daemon/contract/realtime.ts';
import { ApiError, lost } from '../../../api/api-error.ts';
import { addressOf } from '../../../api/client.ts';

/** Timeout for the first event of a session. */
const OPEN_MS = 15_000;
/** Buffered bytes from which live audio is dropped and recordings wait: the connection is too slow. */
const MAX_BUFFERED_BYTES = 1_000_000;
const POLL_MS = 20;

/** The WebSocket URL of live voice. */
export function voiceAddress(origin: string, model: string): string {
  return `${origin.replace(/^http/, 'ws')}${addressOf('v1.realtime', { query: { model } })}`;
}

/** The failure of a closed session. The gateway sends an error code as the close reason. */
export function closeFailure(code: number, reason: string): ApiError {
  const row = isErrorCode(reason) ? ERRORS[reason] : null;
  const plain = code === 4408 ? 'The gateway ended the session after 15 minutes of inactivity.' : null;
  return new ApiError({
    ...lost().info,
    code: row === null ? 'realtime.closed' : reason,
    message: row?.message ?? plain ?? 'The connection to the gateway was lost.',
    advice: row?.advice ?? 'Start again. The transcript stays here.',
  });
}

const soundEvent = (audio: string) => ({ type: 'input_audio_buffer.append', audio });

/** A session of live voice. */
export interface VoiceSocket {
  send(event: Record<string, unknown>): void;
  /** Sends live microphone audio; drops it while the connection is too slow. */
  sendSound(audio: string): void;
  /** Sends audio that must arrive completely; waits while the connection is too slow. Never rejects. */
  sendWhole(audio: string): Promise<void>;
}

/**
 * Opens a session that lasts until the signal aborts. Resolves after the first event of the gateway. `onClose` is called when
 * the session ends unexpectedly. Throws ApiError, or the abort reason when that came first.
 */
export function openVoiceSocket(
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
    let opened = false;
    const end = (reason: unknown): void => {
      clearTimeout(timeout);
      socket.onmessage = socket.onclose = null;
      socket.close(1000);
      reject(reason);
    };
    const timeout = setTimeout(() => end(lost()), OPEN_MS);
    signal.addEventListener('abort', () => end(signal.reason), { once: true });
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(String(data)) as ServerEvent;
      onEvent(event);
      if (opened) return;
      opened = true;
      clearTimeout(timeout);
      resolve({
        send: write,
        sendSound: (audio) => {
          if (socket.bufferedAmount < MAX_BUFFERED_BYTES) write(soundEvent(audio));
        },
        sendWhole: async (audio) => {
          while (socket.readyState === WebSocket.OPEN && socket.bufferedAmount >= MAX_BUFFERED_BYTES)
            await new Promise((resume) => setTimeout(resume, POLL_MS));
          write(soundEvent(audio));
        },
      });
    };
    socket.onclose = ({ code, reason }) => {
      clearTimeout(timeout);
      const failure = reason === '' && !opened ? lost() : closeFailure(code, reason);
      if (opened) onClose(failure);
      else reject(failure);
    };
  });
}
