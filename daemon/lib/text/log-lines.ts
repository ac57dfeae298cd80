import { EventBus } from '../async/event-bus.ts';

/** Levels of the log, least severe first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLine {
  readonly level: LogLevel;
  /** One JSON object, as written. */
  readonly text: string;
}

const DEFAULT_CAPACITY = 1_000;
/** Maximum length of a stored line, in UTF-16 units. */
const MAX_LINE_LENGTH = 8_192;

const isLevel = (name: string): name is LogLevel => (LOG_LEVELS as readonly string[]).includes(name);

/** Returns a replacement for a line that is too long: its start as the message of a line with `cut: true`. */
function truncateLine(line: string, level: LogLevel): string {
  const time = /"time":"([^"]{1,40})"/.exec(line.slice(0, 200))?.[1];
  return JSON.stringify({ level, time, msg: line.slice(0, MAX_LINE_LENGTH / 2), cut: true });
}

/** The last lines of the log and the live ones, limited in number and length. Expects redacted lines. */
export class LogLines {
  readonly bus: EventBus<{ log: LogLine }>;

  constructor(capacity = DEFAULT_CAPACITY) {
    this.bus = new EventBus(capacity);
  }

  /** Adds one finished line of the log. */
  push(line: string): void {
    const text = line.trimEnd();
    if (text === '') return;
    const name = /^\{"level":"([a-z]+)"/.exec(text)?.[1] ?? '';
    const level = isLevel(name) ? name : 'info';
    this.bus.emit('log', { level, text: text.length > MAX_LINE_LENGTH ? truncateLine(text, level) : text });
  }
}

/** Returns whether `level` is at least as severe as `threshold`. */
export const atLeast = (level: LogLevel, threshold: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold);
