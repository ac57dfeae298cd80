import { resolve } from '../json/schema-reference.ts';
import { isSchema, type Schema } from '../json/schema-shape.ts';

const MAX_DEPTH = 8;
/** Literals that models write in Python style. */
const WORDS: Readonly<Record<string, string>> = { true: 'true', false: 'false', none: 'null', null: 'null' };

/** Returns the JSON types that `schema` allows. Null when it does not say. */
export function typesOf(schema: unknown, root: Schema = {}, depth = 0): ReadonlySet<string> | null {
  if (!isSchema(schema) || depth > MAX_DEPTH) return null;
  if (typeof schema.$ref === 'string') return typesOf(resolve(schema.$ref, root), root, depth + 1);
  if (typeof schema.type === 'string') return schema.type === 'any' ? null : new Set([schema.type]);
  if (Array.isArray(schema.type)) return new Set(schema.type.filter((type) => typeof type === 'string'));
  if ('const' in schema) return new Set([kindOf(schema.const)]);
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(kindOf));
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray) as unknown[] | undefined;
  if (parts !== undefined) return union(parts.map((part) => typesOf(part, root, depth + 1)));
  if ('properties' in schema) return new Set(['object']);
  return 'items' in schema ? new Set(['array']) : null;
}

/** True when a value of `schema` can only be a string, which can be emitted before it is complete. */
export function isText(schema: unknown, root: Schema = {}): boolean {
  const types = typesOf(schema, root);
  return types !== null && types.size === 1 && types.has('string');
}

/**
 * Returns the JSON of a value that the model wrote as text, typed by its schema. Text that parses as one of
 * the types becomes that value, anything else a string. Without a type, any valid JSON is accepted.
 */
export function typedValue(text: string, schema: unknown, root: Schema = {}): string {
  const types = typesOf(schema, root);
  const trimmed = text.trim();
  const json = parsed(trimmed) === undefined ? (WORDS[trimmed.toLowerCase()] ?? trimmed) : trimmed;
  const value = parsed(json);
  if (value === undefined || typeof value === 'string') return JSON.stringify(text);
  if (types === null) return trimmed === json ? json : JSON.stringify(text);
  const kind = kindOf(value);
  const fits = types.has(kind) || (kind === 'integer' && types.has('number'));
  const whole = kind === 'number' && types.has('integer') && !types.has('string');
  return fits || whole ? json : JSON.stringify(text);
}

function union(parts: readonly (ReadonlySet<string> | null)[]): ReadonlySet<string> | null {
  const known = parts.filter((part) => part !== null);
  return known.length === 0 ? null : new Set(known.flatMap((part) => [...part]));
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
