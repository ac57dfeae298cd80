import type { StreamEvent } from '../../../daemon/contract/event-stream.ts';
import { ApiError, isLost } from '../../api/api-error.ts';
import type { LineBuffer } from './line-buffer.ts';

const DRAW_MS = 200;

export interface LogFollowerParts<T> {
  readonly lines: LineBuffer<T>;
  /** The line that marks missing lines. */
  readonly gap: T;
  /** Parses an event; null when it is not a line. */
  read(event: StreamEvent): T | null;
  /** Called when the lines have changed; throttled to five times a second. */
  draw(): void;
  /** Called when the stream is open. */
  live(): void;
  /** Called when the stream broke; `refusal` is the error of the gateway, null when it reconnects. */
  broken(refusal: ApiError | null): void;
}

/**
 * Applies a stream to the lines of a log. After a break, a log without ids is read again from its last lines; a log with
 * ids continues.
 */
export class LogFollower<T> {
  readonly #parts: LogFollowerParts<T>;
  #withIds = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: LogFollowerParts<T>) {
    this.#parts = parts;
  }

  event(event: StreamEvent): void {
    const { lines, gap, read } = this.#parts;
    this.#withIds ||= event.id !== null;
    const line = event.event === 'gap' ? gap : read(event);
    if (line !== null) lines.push(line);
    this.#scheduleFlush();
  }

  /** `again` is true for a reconnect. */
  opened(again: boolean): void {
    const { lines, live } = this.#parts;
    if (again && !this.#withIds) lines.clear();
    live();
    this.#scheduleFlush();
  }

  /** Returns whether to reconnect: not after an error of the gateway. */
  broke(cause: unknown): boolean {
    const refusal = cause instanceof ApiError && !isLost(cause) ? cause : null;
    this.#parts.broken(refusal);
    return refusal === null;
  }

  /** Cancels a pending draw. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #scheduleFlush(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#parts.draw();
    }, DRAW_MS);
  }
}
