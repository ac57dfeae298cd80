import { exactByteSize, parseByteSize } from '../contract/byte-size.ts';

/** The result of parsing one raw value: the value, or why it is invalid. */
export type Parsed<T> = { ok: true; value: T; warning?: string } | { ok: false; reason: string };

/** How one type of setting is parsed from text (environment) and from TOML. */
export interface SettingType<T> {
  readonly name: string;
  /** Parses an environment value. Never blank, because blank means unset. */
  fromText(text: string): Parsed<T>;
  /** Parses a TOML value. */
  fromToml(value: unknown): Parsed<T>;
  /** Parses a value that a caller wants to write. Default: like `fromToml`. */
  fromInput?(value: unknown): Parsed<T>;
}

/** Parses a value that is about to be written. Refuses what a reader of the file would only warn about. */
export const parseInput = <T>(type: SettingType<T>, value: unknown): Parsed<T> =>
  (type.fromInput ?? type.fromToml)(value);

const good = <T>(value: T): Parsed<T> => ({ ok: true, value });
const bad = <T>(reason: string): Parsed<T> => ({ ok: false, reason });

const TRUE_WORDS = ['1', 'true', 'yes', 'on'];
const FALSE_WORDS = ['0', 'false', 'no', 'off'];
const WORDS = `${TRUE_WORDS.join(', ')} or ${FALSE_WORDS.join(', ')}`;

/**
 * True or false by the two word lists of docs/spec/specification.md#enforcement-precedence, case-insensitive.
 * `unknownIsOn`: a word outside both lists counts as on, with a warning
 * (docs/spec/contract.md#require-auth-values).
 */
export function flag(options: { unknownIsOn?: boolean } = {}): SettingType<boolean> {
  return {
    name: 'true or false',
    fromText(text) {
      const word = text.trim().toLowerCase();
      if (TRUE_WORDS.includes(word)) return good(true);
      if (FALSE_WORDS.includes(word)) return good(false);
      if (options.unknownIsOn) return { ok: true, value: true, warning: `not one of ${WORDS}; read as on` };
      return bad(`must be ${WORDS}`);
    },
    fromToml: (value) => (typeof value === 'boolean' ? good(value) : bad('must be true or false')),
  };
}

/** A number within [min, max]. `integer` rejects fractions. */
export function number(min: number, max: number, integer = true): SettingType<number> {
  const check = (value: number): Parsed<number> => {
    if (!Number.isFinite(value) || (integer && !Number.isInteger(value))) {
      return bad(`must be ${integer ? 'a whole number' : 'a number'} from ${min} to ${max}`);
    }
    return value < min || value > max ? bad(`must be from ${min} to ${max}`) : good(value);
  };
  return {
    name: `${integer ? 'whole number' : 'number'} ${min}–${max}`,
    fromText: (text) => check(/^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Number(text.trim()) : Number.NaN),
    fromToml: (value) => {
      if (typeof value === 'bigint') return check(Number(value));
      return typeof value === 'number' ? check(value) : bad('must be a number');
    },
  };
}

const CONTROLS = /[\0-\x1f\x7f]/;
const NO_CONTROLS = 'must not contain control characters';
/** A size in bytes up to `max`: a whole number, or a text such as "4 GB" or "1.5 GiB". */
export function byteSize(max: number): SettingType<number> {
  const reason = `must be a size such as 4 GB or 1.5 GiB, at most ${exactByteSize(max)}`;
  const check = (value: number | null): Parsed<number> =>
    value === null || !Number.isInteger(value) || value < 0 || value > max ? bad(reason) : good(value);
  return {
    name: 'size in bytes or with a unit',
    fromText: (text) => check(parseByteSize(text)),
    fromToml: (value) => {
      if (typeof value === 'bigint') return check(Number(value));
      return check(
        typeof value === 'string' ? parseByteSize(value) : typeof value === 'number' ? value : null,
      );
    },
  };
}

/** Entries of a table of config.toml, in the order of the file. */
export type Entries<T> = Readonly<Record<string, T>>;

/** Maximum number of entries in one table. */
const MAX_ENTRIES = 1000;
const MAX_NAME_CHARS = 256;

/**
 * A whole table of config.toml, whose keys the owner chooses. A reader ignores rejected entries with a warning,
 * and the other entries count.
 */
export function table<T>(name: string, entry: (value: unknown) => Parsed<T>): SettingType<Entries<T>> {
  const one = (key: string, value: unknown): Parsed<T> => {
    if (key.trim() === '' || key.length > MAX_NAME_CHARS || CONTROLS.test(key))
      return bad(`must have a name of 1 to ${MAX_NAME_CHARS} characters`);
    return entry(value);
  };
  const sorted = (value: TomlTableLike) => {
    const accepted: [string, T][] = [];
    const rejected: string[] = [];
    for (const [key, raw] of Object.entries(value)) {
      const read = one(key, raw);
      if (read.ok) accepted.push([key, read.value]);
      else rejected.push(`${JSON.stringify(key.slice(0, 80))} ${read.reason}`);
    }
    return { accepted: Object.fromEntries(accepted), rejected };
  };
  const check = (value: unknown): Parsed<TomlTableLike> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date)
      return bad('must be a table');
    const count = Object.keys(value).length;
    return count > MAX_ENTRIES
      ? bad(`must have at most ${MAX_ENTRIES} entries`)
      : good(value as TomlTableLike);
  };
  return {
    name,
    fromText: () => bad('is a table of config.toml'),
    fromToml: (value) => {
      const read = check(value);
      if (!read.ok) return read;
      const { accepted, rejected } = sorted(read.value);
      if (rejected.length === 0) return good(accepted);
      const others =
        rejected.length === 1 ? 'it is ignored' : `it and ${rejected.length - 1} more are ignored`;
      return { ok: true, value: accepted, warning: `${rejected[0]}; ${others}` };
    },
    fromInput: (value) => {
      const read = check(value);
      if (!read.ok) return read;
      const { accepted, rejected } = sorted(read.value);
      return rejected[0] === undefined ? good(accepted) : bad(rejected[0]);
    },
  };
}

type TomlTableLike = Readonly<Record<string, unknown>>;

/** Any text without control characters. */
export function text(pattern?: RegExp, hint = 'has a character that is not allowed'): SettingType<string> {
  const check = (value: string): Parsed<string> => {
    if (CONTROLS.test(value)) return bad(NO_CONTROLS);
    return pattern && !pattern.test(value) ? bad(hint) : good(value);
  };
  return {
    name: 'text',
    fromText: (value) => check(value.trim()),
    fromToml: (value) => (typeof value === 'string' ? check(value.trim()) : bad('must be a text in quotes')),
  };
}

/** One of a few words. */
export function choice<const W extends readonly string[]>(...words: W): SettingType<W[number]> {
  const check = (value: string): Parsed<W[number]> =>
    words.includes(value) ? good(value as W[number]) : bad(`must be one of ${words.join(', ')}`);
  return {
    name: words.join(' | '),
    fromText: (value) => check(value.trim().toLowerCase()),
    fromToml: (value) =>
      typeof value === 'string' ? check(value) : bad(`must be one of ${words.join(', ')}`),
  };
}

/**
 * A list of strings: comma-separated in the environment, an array in TOML. `item` may normalise or reject an
 * entry. A reader ignores rejected entries with a warning, and the other entries count. A rejected entry is
 * identified by its number only: it may be a secret, and the reason is returned and logged.
 */
export function list(item: (entry: string) => Parsed<string> = good): SettingType<readonly string[]> {
  const sorted = (entries: readonly string[]) => {
    const accepted: string[] = [];
    const rejected: string[] = [];
    for (const [index, entry] of entries.map((each) => each.trim()).entries()) {
      if (entry === '') continue;
      const one = CONTROLS.test(entry) ? bad<string>(NO_CONTROLS) : item(entry);
      if (one.ok) accepted.push(one.value);
      else rejected.push(`has an entry (number ${index + 1}) that ${one.reason}`);
    }
    return { accepted, rejected };
  };
  const read = (entries: readonly string[]): Parsed<readonly string[]> => {
    const { accepted, rejected } = sorted(entries);
    if (rejected.length === 0) return good(accepted);
    const others = rejected.length === 1 ? 'it is ignored' : `it and ${rejected.length - 1} more are ignored`;
    return { ok: true, value: accepted, warning: `${rejected[0]}; ${others}` };
  };
  const entriesOf = (value: unknown): readonly string[] | null =>
    Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? value : null;
  return {
    name: 'list',
    fromText: (value) => read(value.split(',')),
    fromToml: (value) => {
      const entries = entriesOf(value);
      return entries === null ? bad('must be a list of texts') : read(entries);
    },
    fromInput: (value) => {
      const entries = entriesOf(value);
      if (entries === null) return bad('must be a list of texts');
      const { accepted, rejected } = sorted(entries);
      return rejected[0] === undefined ? good(accepted) : bad(rejected[0]);
    },
  };
}

/** An origin `scheme://host[:port]`; a path or trailing slash is cut off, `*` and `null` are refused. */
export function origin(entry: string): Parsed<string> {
  if (entry === '*' || entry.toLowerCase() === 'null') return bad('is not an origin; name each origin');
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\s]+)(?:[/?#].*)?$/i.exec(entry);
  if (!match) return bad('is not an origin like https://chat.example.com');
  const scheme = (match[1] as string).toLowerCase();
  if (scheme !== 'http' && scheme !== 'https')
    return good(`${scheme}://${(match[2] as string).toLowerCase()}`);
  return URL.canParse(entry) ? good(new URL(entry).origin) : bad('is not a valid origin');
}
