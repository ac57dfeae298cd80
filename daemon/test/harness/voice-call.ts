import WebSocket from 'ws';
import type { ServerEvent, ServerEventType } from '../../contract/realtime.ts';
import { OrderChecker } from '../../inference/realtime/testing/order.ts';
import { eventBreaches } from '../openai-schemas/validate.ts';
import type { Gateway } from './gateway.ts';

/** Bytes of PCM16 at 24,000 samples per second in a fifth of a second. */
const PIECE = 9_600;

/** A client of `/v1/realtime` that checks the order and the published schema of every event. */
export class VoiceCall {
  readonly socket: WebSocket;
  readonly checker = new OrderChecker();
  readonly events: ServerEvent[] = [];
  failure: unknown = null;
  closed: { code: number; reason: string } | null = null;
  #read = 0;
  #waiters: (() => void)[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      const event = JSON.parse(data.toString()) as ServerEvent;
      this.events.push(event);
      try {
        this.checker.accept(event);
        const violations = eventBreaches(event);
        if (violations.length > 0) throw new Error(`${event.type}: ${violations.join('; ')}`);
      } catch (error) {
        this.failure ??= error;
      }
      this.#notify();
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.#notify();
    });
    socket.on('error', () => {});
  }

  static async open(gateway: Pick<Gateway, 'port'>, query = '', headers = {}): Promise<VoiceCall> {
    const call = new VoiceCall(
      new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/realtime${query}`, { headers }),
    );
    await call.next('session.created');
    return call;
  }

  send(event: Record<string, unknown>): void {
    this.socket.send(JSON.stringify(event));
  }

  update(session: Record<string, unknown>, type = 'realtime'): Promise<ServerEvent> {
    this.send({ type: 'session.update', session: { type, ...session } });
    return this.next('session.updated');
  }

  /** Adds a typed message to the conversation. */
  type(text: string): void {
    const content = [{ type: 'input_text', text }];
    this.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  }

  /** Sends sound as a microphone would, without waiting. */
  speak(sound: Buffer): void {
    for (let at = 0; at < sound.length; at += PIECE) {
      const audio = sound.subarray(at, at + PIECE).toString('base64');
      this.send({ type: 'input_audio_buffer.append', audio });
    }
  }

  /** Waits for the next event of a type after the last one returned. Throws on a wrong order, a close, or after `limitMs`. */
  async next(type: ServerEventType, limitMs = 30_000): Promise<ServerEvent> {
    const end = Date.now() + limitMs;
    for (;;) {
      if (this.failure) throw this.failure;
      const at = this.events.findIndex((event, index) => index >= this.#read && event.type === type);
      if (at !== -1) {
        this.#read = at + 1;
        return this.events[at] as ServerEvent;
      }
      const received = this.events.map((event) => event.type).join(' ');
      if (this.closed) throw new Error(`closed with ${this.closed.code} before ${type}: ${received}`);
      if (Date.now() > end) throw new Error(`waited for ${type}, saw ${received}`);
      await this.#waitForChange(end - Date.now());
    }
  }

  /** Waits until the socket is closed. */
  async waitForClose(): Promise<{ code: number; reason: string }> {
    while (this.closed === null) await this.#waitForChange(30_000);
    return this.closed;
  }

  /** All deltas of a type since the session started. */
  deltas(type: ServerEventType, field: 'response_id' | 'item_id' = 'response_id', id?: unknown): string[] {
    return this.events
      .filter((event) => event.type === type && (id === undefined || event[field] === id))
      .map(({ delta }) => delta as string);
  }

  /** The sound of one response. */
  sound(response: unknown): Buffer {
    const parts = this.deltas('response.output_audio.delta', 'response_id', response);
    return Buffer.concat(parts.map((part) => Buffer.from(part, 'base64')));
  }

  close(): void {
    this.socket.close();
  }

  #waitForChange(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#waiters.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #notify(): void {
    for (const notify of this.#waiters.splice(0)) notify();
  }
}
