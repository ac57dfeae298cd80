import type { RealtimeError, ServerEvent, ServerEventType } from '../../contract/realtime.ts';
import type { ChatRequest } from './chat-body.ts';
import type { ReadResult } from './client-event.ts';
import type { Item, SpokenSentence } from './items.ts';
import type { ActiveResponse } from './response-state.ts';
import { type SessionConfig, sessionResource } from './session-config.ts';
import type { SoundBuffer } from './sound-buffer.ts';
import type { StageTimes, Tokens, VoiceRequest } from './stage-types.ts';
import type { VadState } from './vad.ts';

/** The complete, immutable state of a session. */
export interface SessionState {
  readonly id: string;
  /** Number of ids that were generated. */
  readonly count: number;
  readonly config: SessionConfig;
  readonly items: readonly Item[];
  /** Spoken sentences with their durations, by item. */
  readonly spokenSentences: Readonly<Record<string, readonly SpokenSentence[]>>;
  /** Items whose audio is being transcribed. */
  readonly transcribing: readonly string[];
  readonly sound: SoundBuffer;
  readonly vad: VadState;
  /** Bytes of `sound` that the VAD has processed. */
  readonly processedBytes: number;
  /** The item id of the speech in progress. */
  readonly speechItemId: string | null;
  readonly response: ActiveResponse | null;
  /** Responses outside the conversation, which run beside each other and beside `response`. */
  readonly sideResponses: readonly ActiveResponse[];
  /**
   * Turns that ended while a response was active that could not be interrupted and did not include them. They
   * are answered next.
   */
  readonly pendingTurns: readonly string[];
  /** The last item when the caller cancelled a response: nothing up to it is answered without a request. */
  readonly dismissedItemId: string | null;
}

/** The failure of a stage, with a code of the catalogue. */
export interface StageError {
  /** OpenAI's type of the error; by default the fault of the server. */
  readonly type?: string;
  readonly code: string;
  readonly message: string;
}

/** The inputs of a session. */
export type Input =
  | { readonly kind: 'open' }
  | { readonly kind: 'message'; readonly read: ReadResult }
  | {
      readonly kind: 'transcribed';
      readonly item: string;
      readonly text: string;
      readonly seconds: number;
      readonly ms: number;
    }
  | { readonly kind: 'transcription_failed'; readonly item: string; readonly error: StageError }
  | { readonly kind: 'text'; readonly response: string; readonly text: string }
  | {
      readonly kind: 'call';
      readonly response: string;
      readonly index: number;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly kind: 'answered';
      readonly response: string;
      readonly finish: string;
      readonly tokens: Tokens | null;
      readonly times: StageTimes;
    }
  | { readonly kind: 'sentence'; readonly response: string; readonly text: string }
  | { readonly kind: 'sound'; readonly response: string; readonly bytes: Buffer }
  | { readonly kind: 'spoken'; readonly response: string; readonly times: StageTimes }
  | { readonly kind: 'failed'; readonly response: string; readonly error: StageError }
  | { readonly kind: 'idle' };

/** The effects that a session requests. */
export type Effect =
  | { readonly kind: 'send'; readonly event: ServerEvent }
  | {
      readonly kind: 'transcribe';
      readonly item: string;
      readonly sound: Buffer;
      readonly config: SessionConfig['input'];
    }
  | {
      readonly kind: 'answer';
      readonly response: string;
      readonly chat: ChatRequest;
      readonly voice: VoiceRequest | null;
    }
  | { readonly kind: 'stop'; readonly response: string }
  /** Sends the input `idle` after `ms`; null cancels it. */
  | { readonly kind: 'idle'; readonly ms: number | null };

export type Stage = 'chat' | 'stt' | 'tts';

/** What a session reads from its environment. */
export interface SessionEnvironment {
  /** Returns whether any target could serve this stage under this name. */
  can(stage: Stage, model: string): boolean;
  /** Returns why no target could ever serve chats under this name; null when one could. */
  unknownModel(model: string): string | null;
  /** Returns the name under which the chat of a session is served. */
  chatModel(model: string): string;
  /** Milliseconds of a monotonic clock. */
  readonly now: number;
}

/** One transition in progress: the new state, and its effects in order. */
export class Step {
  state: SessionState;
  readonly environment: SessionEnvironment;
  readonly effects: Effect[] = [];

  constructor(state: SessionState, world: SessionEnvironment) {
    this.state = state;
    this.environment = world;
  }

  set(change: Partial<SessionState>): void {
    this.state = { ...this.state, ...change };
  }

  addEffect(effect: Effect): void {
    this.effects.push(effect);
  }

  send(type: ServerEventType, fields: Record<string, unknown> = {}): void {
    this.addEffect({ kind: 'send', event: { type, event_id: this.newId('event'), ...fields } });
  }

  error(error: RealtimeError): void {
    this.send('error', { error });
  }

  /** Returns an id that is unique across sessions. */
  newId(kind: 'event' | 'item' | 'resp' | 'call'): string {
    const count = this.state.count + 1;
    this.set({ count });
    return `${kind}_${this.state.id}${count.toString(36).padStart(5, '0')}`;
  }

  resource(): object {
    return sessionResource(`sess_${this.state.id}`, this.state.config);
  }
}
