import { ApiError, isLost } from '../../api/api-error.ts';
import type { SseEvent } from '../../api/sse.ts';
import type { LineBuffer } from './line-buffer.ts';

const DRAW_MS = 200;

export interface LogFollowerParts<T> {
  readonly lines: LineBuffer<T>;
  /** Stands where lines are missing. */
  readonly gap: T;
  /** What an event says; null for one that is no line. */
  read(event: SseEvent): T | null;
  /** The lines have changed; five times a second at most. */
  draw(): void;
  /** The stream is open. */
  live(): void;
  /** It could not be opened or broke; `refusal` is why the gateway refuses it, null when it is tried again. */
  broken(refusal: ApiError | null): void;
}

/**
 * What a stream does to the lines of a log. A log without ids is read from its last lines anew after a break, one with ids
 * goes on where it was.
 */
export class LogFollower<T> {
  readonly #parts: LogFollowerParts<T>;
  #withIds = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: LogFollowerParts<T>) {
    this.#parts = parts;
  }

  event(event: SseEvent): void {
    const { lines, gap, read } = this.#parts;
    this.#withIds ||= event.id !== null;
    const line = event.event === 'gap' ? gap : read(event);
    if (line !== null) lines.push(line);
    this.#soon();
  }

  /** `again`: it was open before and broke. */
  opened(again: boolean): void {
    const { lines, live } = this.#parts;
    if (again && !this.#withIds) lines.clear();
    live();
    this.#soon();
  }

  /** Answers whether to go on trying: what the gateway refuses is not tried again by itself. */
  broke(cause: unknown): boolean {
    const refusal = cause instanceof ApiError && !isLost(cause) ? cause : null;
    this.#parts.broken(refusal);
    return refusal === null;
  }

  /** Nothing that was still to be drawn is drawn any more. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#parts.draw();
    }, DRAW_MS);
  }
}
