import { isDeepStrictEqual } from 'node:util';
import { ConfigEditError, literal, type TomlValue } from './config-file.ts';
import { tomlValues } from './config-text.ts';
import { mapToml } from './toml-map.ts';

/** Changes of top-level keys: a new value, or null to remove the key. */
export type KeyChanges = Readonly<Record<string, TomlValue | null>>;

/**
 * Changes top-level keys and preserves every other character: comments, order, unknown keys, line ends, byte
 * order mark. A new key is added after the last one. The result is parsed again to verify that only these
 * keys have changed. Throws ConfigEditError otherwise, and for invalid TOML.
 */
export function setTomlKeys(text: string, changes: KeyChanges): string {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const source = text.slice(bom.length);
  const wanted = valuesOf(source, 'the file is not valid TOML; correct it first');
  let edited = source;
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete wanted[key];
    else wanted[key] = value;
    edited = value === null ? removeKey(edited, key) : withKey(edited, key, literal(value));
  }
  if (!isDeepStrictEqual(valuesOf(edited, BY_HAND), wanted)) throw new ConfigEditError(BY_HAND);
  return bom + edited;
}

const BY_HAND = 'the file cannot be changed without touching other parts; edit the file';

function valuesOf(text: string, message: string): Record<string, unknown> {
  try {
    return { ...tomlValues(text) };
  } catch {
    throw new ConfigEditError(message);
  }
}

const rootEntries = (text: string) =>
  mapToml(text).entries.filter(({ path, home }) => home === 'root' && path.length === 1);

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

/** Returns the end of the line that contains `offset`, line break included. */
function lineEnd(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  return newline < 0 ? text.length : newline + 1;
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

function withKey(text: string, key: string, value: string): string {
  const entries = rootEntries(text);
  const at = entries.find(({ path }) => path[0] === key);
  if (at) return text.slice(0, at.valueFrom) + value + text.slice(at.valueTo);
  const last = entries.at(-1);
  const position = last ? lineEnd(text, last.valueTo) : 0;
  const before = text.slice(0, position);
  const gap = before === '' || before.endsWith('\n') ? '' : eolOf(text);
  return `${before}${gap}${key} = ${value}${eolOf(text)}${text.slice(position)}`;
}

/** Removes all lines of a key, with a comment after its value. */
function removeKey(text: string, key: string): string {
  const at = rootEntries(text).find(({ path }) => path[0] === key);
  if (!at) return text;
  return text.slice(0, lineStart(text, at.valueFrom)) + text.slice(lineEnd(text, at.valueTo));
}
