import { type Parsed, type SettingType, table } from './setting-types.ts';

/** A JSON value that config.toml can hold. */
export type PresetValue =
  | string
  | number
  | boolean
  | readonly PresetValue[]
  | { readonly [key: string]: PresetValue };

/** A named way to call a model (docs/spec/contract.md#presets). */
export interface Preset {
  /** The name to serve it with. */
  readonly model: string;
  /** Fields that are always set. */
  readonly set: Readonly<Record<string, PresetValue>>;
  /** Fields that are set when the caller does not. */
  readonly default: Readonly<Record<string, PresetValue>>;
  /** Fields that are removed. */
  readonly strip: readonly string[];
  /** Text before the caller's system text; empty for none. */
  readonly system: string;
}

/**
 * Fields that a preset cannot touch: they carry the request itself, or they decide how it is read before its
 * preset is known.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'input', 'prompt', 'query', 'documents'],
  ...['stream', 'omni', '__proto__', 'constructor', 'prototype'],
]);
const KEYS: ReadonlySet<string> = new Set(['model', 'set', 'default', 'strip', 'system']);
const MAX_SYSTEM_CHARS = 100_000;
/** Longest name of a field that a preset sets or removes. */
export const MAX_FIELD_CHARS = 64;

const good = <T>(value: T): Parsed<T> => ({ ok: true, value });
const bad = <T>(reason: string): Parsed<T> => ({ ok: false, reason });

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 256;

/** The table `[aliases]`: other names of models (docs/spec/contract.md#configured-aliases). */
export const aliasTable: SettingType<Readonly<Record<string, string>>> = table('table of names', (value) =>
  isName(value) ? good(value.trim()) : bad('must be the name of a model or slot in quotes'),
);

/** The tables `[presets.NAME]` (docs/spec/contract.md#presets). */
export const presetTable: SettingType<Readonly<Record<string, Preset>>> = table(
  'table of presets',
  readPreset,
);

function readPreset(value: unknown): Parsed<Preset> {
  if (!isTable(value)) return bad('must be a table with a model');
  const unknown = Object.keys(value).find((key) => !KEYS.has(key));
  if (unknown !== undefined) return bad(`has the unknown key ${JSON.stringify(unknown.slice(0, 80))}`);
  const { model, strip = [], system = '' } = value;
  if (!isName(model)) return bad('needs model, the name of a model or slot in quotes');
  if (typeof system !== 'string' || system.length > MAX_SYSTEM_CHARS)
    return bad(`has a system that is not a text of at most ${MAX_SYSTEM_CHARS} characters`);
  if (!Array.isArray(strip) || !strip.every((each) => typeof each === 'string'))
    return bad('has a strip that is not a list of field names');
  const set = fields(value.set ?? {});
  if (set === null) return bad('has a set that is not a table of JSON values');
  const defaults = fields(value.default ?? {});
  if (defaults === null) return bad('has a default that is not a table of JSON values');
  const names = [...Object.keys(set), ...Object.keys(defaults), ...strip];
  const refused = names.find((each) => RESERVED.has(each) || each === '' || each.length > MAX_FIELD_CHARS);
  if (refused !== undefined) return bad(`cannot change the field ${JSON.stringify(refused.slice(0, 80))}`);
  return good({
    model: model.trim(),
    set,
    default: defaults,
    strip: strip as string[],
    system: system.trim(),
  });
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** Returns the fields of a table as JSON values; null when one is a date or a number that JSON cannot hold. */
function fields(value: unknown): Record<string, PresetValue> | null {
  if (!isTable(value)) return null;
  const read = Object.entries(value).map(([key, one]) => [key, jsonValue(one)] as const);
  return read.some(([, one]) => one === null)
    ? null
    : (Object.fromEntries(read) as Record<string, PresetValue>);
}

function jsonValue(value: unknown): PresetValue | null {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) {
    const items = value.map(jsonValue);
    return items.includes(null) ? null : (items as PresetValue[]);
  }
  return isTable(value) ? fields(value) : null;
}
