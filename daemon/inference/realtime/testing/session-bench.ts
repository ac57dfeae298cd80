import type { ServerEvent } from '../../../contract/realtime.ts';
import { readClientEvent } from '../client-event.ts';
import { newSession, session } from '../session.ts';
import { chatModel } from '../session-config.ts';
import type { Effect, Input, SessionState, Stage } from '../step.ts';
import { OrderChecker } from './order.ts';

/**
 * A session without environment: stages are listed, effects are recorded, and the order of every event is
 * checked.
 */
export class SessionBench {
  state: SessionState;
  readonly checker = new OrderChecker();
  /** Effects other than events, in order. */
  readonly effects: Exclude<Effect, { kind: 'send' }>[] = [];
  stages: Stage[] = ['chat', 'stt', 'tts'];
  now = 0;

  constructor(start: Partial<Parameters<typeof newSession>[1]> = {}) {
    this.state = newSession('s', { type: 'realtime', model: null, modality: 'audio', ...start });
    this.dispatch({ kind: 'open' });
  }

  /** Returns the events that this input caused. */
  dispatch(input: Input): ServerEvent[] {
    const frozen = JSON.stringify({ ...this.state, sound: null });
    const before = this.state;
    const [state, effects] = session(this.state, input, {
      can: (stage) => this.stages.includes(stage),
      chatModel,
      unknownModel: (model) => (model === 'unknown' ? 'Nothing serves it.' : null),
      now: this.now,
    });
    if (JSON.stringify({ ...before, sound: null }) !== frozen)
      throw new Error('the state was changed in place');
    this.state = state;
    const sent = effects.flatMap((effect) => (effect.kind === 'send' ? [effect.event] : []));
    this.effects.push(...effects.filter((effect) => effect.kind !== 'send'));
    for (const event of sent) {
      this.checker.accept(event);
    }
    return sent;
  }

  /** Sends a client message. */
  send(event: Record<string, unknown>): ServerEvent[] {
    return this.dispatch({ kind: 'message', read: readClientEvent(Buffer.from(JSON.stringify(event))) });
  }

  update(session: Record<string, unknown>): ServerEvent[] {
    return this.send({ type: 'session.update', session: { type: this.state.config.type, ...session } });
  }

  append(...pieces: Buffer[]): ServerEvent[] {
    return pieces.flatMap((piece) =>
      this.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') }),
    );
  }

  /** Returns the newest effect of a kind; throws when there is none. */
  last<K extends Effect['kind']>(kind: K): Extract<Effect, { kind: K }> {
    const found = this.effects.findLast((effect) => effect.kind === kind);
    if (found === undefined) throw new Error(`nothing wanted ${kind}`);
    return found as Extract<Effect, { kind: K }>;
  }

  get answering(): string {
    return this.last('answer').response;
  }
}

export const types = (events: readonly ServerEvent[]): string[] => events.map(({ type }) => type);
export const errorOf = (events: readonly ServerEvent[]): Record<string, unknown> | undefined =>
  events.find(({ type }) => type === 'error')?.error as Record<string, unknown> | undefined;

export const ITEM = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] };
export const ANSWERED = {
  kind: 'answered',
  finish: 'stop',
  tokens: { input: 3, output: 4 },
  times: { firstMs: 1, ms: 2 },
} as const;
export const SPOKEN = { kind: 'spoken', times: { firstMs: 3, ms: 4 } } as const;
export const MANUAL = { audio: { input: { turn_detection: null } } };

/** Creates a session with text responses. */
export const textSession = () => new SessionBench({ modality: 'text' });
/** Sends a message and requests a response; returns the id of the response. */
export const requestResponse = (bench: SessionBench) => {
  bench.send({ type: 'conversation.item.create', item: ITEM });
  bench.send({ type: 'response.create' });
  return bench.answering;
};
/** Returns the finished response. */
export const doneOf = (events: ReturnType<SessionBench['dispatch']>) =>
  events.find(({ type }) => type === 'response.done')?.response as Record<string, never>;
