import type { RealtimeError, ServerEvent, ServerEventType } from '../../contract/realtime.ts';
import type { ChatRequest } from './chat-body.ts';
import type { ReadResult } from './client-event.ts';
import type { Item, SpokenSentence } from './items.ts';
import type { ActiveResponse } from './response-state.ts';
import { type SessionConfig, sessionResource } from './session-config.ts';
import type { SoundBuffer } from './sound-buffer.ts';
import type { VadState } from './vad.ts';

/** Everything that a session is, as a value. */
export interface SessionState {
  readonly id: string;
  /** Of ids that were given out. */
  readonly count: number;
  readonly config: SessionConfig;
  readonly items: readonly Item[];
  /** Answers that were spoken: what was said when, by item. */
  readonly spokenSentences: Readonly<Record<string, readonly SpokenSentence[]>>;
  /** Items whose sound is not understood yet. */
  readonly transcribing: readonly string[];
  readonly sound: SoundBuffer;
  readonly vad: VadState;
  /** Bytes of `sound` that the gate has judged. */
  readonly processedBytes: number;
  /** The item that speech which goes on now will be. */
  readonly speechItemId: string | null;
  readonly response: ActiveResponse | null;
  /** Turns that ended while an answer went on that nothing interrupts and that was not told of them: they are answered next. */
  readonly pendingTurns: readonly string[];
  /** The last item when the caller cancelled an answer: nothing up to it is answered without being asked for. */
  readonly dismissedItemId: string | null;
}

/** What went wrong in a stage, in the words of the catalogue. */
export interface StageError {
  readonly code: string;
  readonly message: string;
}

/** Tokens as the engine counted them. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}
export interface StageTimes {
  /** Milliseconds to the first token or sound; null when none came. */
  readonly firstMs: number | null;
  readonly ms: number;
}

/** What happens to a session. */
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

/** How an answer is spoken. */
export interface VoiceRequest {
  readonly voice: string | null;
  readonly speed: number;
  readonly format: SessionConfig['output']['format'];
}

/** What a session wants done. */
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
  /** Wakes the session by `idle` after so long; null takes that back. */
  | { readonly kind: 'idle'; readonly ms: number | null };

export type Stage = 'chat' | 'stt' | 'tts';

/** What a session asks about the world around it. */
export interface SessionEnvironment {
  /** Whether anything could serve this stage under this name. */
  can(stage: Stage, model: string): boolean;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: number;
}

/** One transition under way: the state as it becomes, and what it wants done, in order. */
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

  /** An id that no other of this or another session has. */
  newId(kind: 'event' | 'item' | 'resp' | 'call'): string {
    const count = this.state.count + 1;
    this.set({ count });
    return `${kind}_${this.state.id}${count.toString(36).padStart(5, '0')}`;
  }

  resource(): object {
    return sessionResource(`sess_${this.state.id}`, this.state.config);
  }
}
