import { randomBytes } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { Tier } from '../../contract/auth.ts';
import type { CallerInfo } from '../../contract/caller-info.ts';
import { GatewayError, isErrorCode } from '../../contract/errors.ts';
import type { ExplainView } from '../../contract/system.ts';
import type { Log } from '../../lib/log.ts';
import type { Inference } from '../serve.ts';
import { Connection } from './connection.ts';
import { errorEvent } from './error-event.ts';
import { chatModel, DEFAULT_MODELS } from './session-config.ts';
import type { Stage } from './step.ts';

export interface RealtimeDeps {
  readonly inference: Pick<Inference, 'internal' | 'explain' | 'hasName'>;
  readonly log: Log;
  /** Overrides of limits, for tests. */
  readonly idleMs?: number;
  readonly maxSessions?: number;
  readonly adminReserve?: number;
}

/** The handshake of a caller. */
export interface RealtimeCall {
  readonly tier: Tier;
  readonly caller?: CallerInfo | undefined;
  /** The `model` of the query; null when omitted or blank. */
  readonly model: string | null;
  /** `?intent=transcription`. */
  readonly transcription: boolean;
}

/** Idle time after which a session is closed: 15 minutes. */
const IDLE_MS = 15 * 60_000;
/** Maximum sessions: each may hold tens of megabytes of audio. */
const MAX_SESSIONS = 64;
/** Sessions that are reserved for admins, so that clients cannot lock out the owner. */
const ADMIN_RESERVE = 16;

const PATHS: Readonly<Record<Stage, string>> = {
  chat: '/v1/chat/completions',
  stt: '/v1/audio/transcriptions',
  tts: '/v1/audio/speech',
};

/** Errors about the name of a model, which waiting does not change. */
const UNKNOWN: ReadonlySet<string> = new Set(['dispatch.no_route', 'dispatch.capability_mismatch']);

const explainedError = ({ code, message }: NonNullable<ExplainView['error']>): GatewayError =>
  new GatewayError(isErrorCode(code) ? code : 'dispatch.no_route', { message, param: 'model' });

export interface Realtime {
  /**
   * Serves an accepted socket until it closes. Throws the error of a model that nothing can serve
   * (docs/spec/contract.md#realtime-model).
   */
  serve(socket: WebSocket, call: RealtimeCall): void;
}

/** Live voice on top of the inference routes (docs/spec/contract.md#realtime). */
export function createRealtime(deps: RealtimeDeps): Realtime {
  const { inference, log } = deps;
  const can = (stage: Stage, model: string): boolean => {
    const { error, slot, upstream } = inference.explain({ path: PATHS[stage], model });
    // A full queue is acceptable, because a session lasts longer.
    const refused = error !== null && error.code !== 'slot.queue_full';
    return !refused && (slot !== null || upstream !== null);
  };
  const refusalOf = (path: string, model: string): GatewayError | null => {
    const { error } = inference.explain({ path, model });
    return error !== null && UNKNOWN.has(error.code) ? explainedError(error) : null;
  };
  // A name of config.toml wins over the default for the names of OpenAI's voice models.
  const servedAs = (name: string): string => (inference.hasName(name) ? name : chatModel(name));
  let open = 0;
  return {
    serve(socket, { tier, caller, model, transcription }) {
      const refused =
        model === null
          ? null
          : transcription
            ? refusalOf(PATHS.stt, model)
            : refusalOf(PATHS.chat, servedAs(model));
      if (refused !== null) throw refused;
      const reserved = tier === 'admin' ? 0 : (deps.adminReserve ?? ADMIN_RESERVE);
      if (open >= (deps.maxSessions ?? MAX_SESSIONS) - reserved) return refuse(socket);
      open++;
      socket.once('close', () => open--);
      const connection = new Connection({
        socket,
        id: randomBytes(9).toString('hex'),
        start: {
          type: transcription ? 'transcription' : 'realtime',
          model,
          modality: can('tts', DEFAULT_MODELS.tts) ? 'audio' : 'text',
        },
        stages: { internal: inference.internal, tier, caller },
        log,
        can,
        chatModel: servedAs,
        unknownModel: (name) => refusalOf(PATHS.chat, name)?.message ?? null,
        idleMs: deps.idleMs ?? IDLE_MS,
      });
      connection.open();
    },
  };
}

/** Reports the limit in the realtime protocol before the socket closes. */
function refuse(socket: WebSocket): void {
  const failure = new GatewayError('realtime.too_many');
  socket.on('error', () => {});
  socket.send(errorEvent(failure), () => socket.close(1013, failure.code));
}
