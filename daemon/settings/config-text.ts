import { parse, TomlError } from 'smol-toml';
import { runSyncWithTimeout, TimeLimitError } from '../lib/async/run-with-timeout.ts';

export const CONFIG_FILE = 'config.toml';
/** Maximum size of config.toml in bytes. */
export const MAX_CONFIG_BYTES = 1 << 20;
/** Time limit for parsing, in milliseconds. An ordinary file takes less than one. */
const PARSE_LIMIT_MS = 1000;
const MAX_DEPTH = 64;

export type TomlTable = Record<string, unknown>;

export const isTable = (value: unknown): value is TomlTable =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

export type ConfigText =
  | { ok: true; text: string; table: TomlTable }
  | { ok: false; line: number | null; message: string };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const BOM = '\ufeff';

/** Parses TOML text and ignores a byte order mark. Throws TomlError, or TimeLimitError after a second. */
export function tomlValues(text: string): TomlTable {
  const source = text.startsWith(BOM) ? text.slice(1) : text;
  return runSyncWithTimeout(
    () => parse(source, { integersAsBigInt: 'asNeeded', maxDepth: MAX_DEPTH }) as TomlTable,
    PARSE_LIMIT_MS,
  );
}

/**
 * Parses config.toml, or returns the line and the reason why it is invalid. Never throws. Limited in size,
 * depth and time.
 */
export function readConfigText(bytes: Uint8Array): ConfigText {
  if (bytes.length > MAX_CONFIG_BYTES) return failure(null, `is larger than ${MAX_CONFIG_BYTES} bytes`);
  let text = '';
  try {
    text = utf8.decode(bytes);
  } catch {
    return failure(firstBadLine(bytes), 'is not UTF-8 text');
  }
  try {
    return { ok: true, text, table: tomlValues(text) };
  } catch (error) {
    if (error instanceof TomlError) return failure(error.line, tomlReason(error));
    return failure(null, error instanceof TimeLimitError ? error.message : 'cannot be read as TOML');
  }
}

const failure = (line: number | null, message: string): ConfigText => ({ ok: false, line, message });

/**
 * Returns why a text is invalid TOML: the first line of the parser's message, without the quoted part of the
 * file.
 */
export function tomlReason(error: TomlError): string {
  const first = error.message.split('\n')[0] as string;
  return first.replace(/^Invalid TOML document: /, 'is not valid TOML: ');
}

function firstBadLine(bytes: Uint8Array): number {
  let line = 1;
  for (let from = 0; from < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, from) + 1 || bytes.length;
    try {
      utf8.decode(bytes.subarray(from, end));
    } catch {
      return line;
    }
    from = end;
  }
  return line;
}
