import type { z } from 'zod';
import { fieldSentence } from '../../../daemon/contract/invalid-request.ts';
import { mapLines, parseMapLines } from '../../../daemon/contract/model-map-text.ts';
import { zodMessage } from '../../../daemon/contract/zod-message.ts';

/**
 * Input kind: a `list` has one entry per line, a `map` one `name = first, second` per line, a `duration` is seconds or a
 * text like "15 min".
 */
export type FieldKind = 'flag' | 'number' | 'text' | 'duration' | 'list' | 'map' | 'choice';

export interface FieldRow {
  /** Path of the value in the body; dots separate nested keys. */
  readonly key: string;
  readonly label: string;
  readonly help: string;
  readonly kind: FieldKind;
  readonly choices?: readonly string[];
  /** Source of the current value; shown after the help. */
  readonly origin?: string;
  /** The field has no default and must be filled. */
  readonly required?: boolean;
  /** Shown in the empty field: an example for a required field, else the meaning of empty. */
  readonly placeholder?: string;
  /** Completions; other values are allowed. */
  readonly suggestions?: readonly string[];
}

/** Field values: a text, empty when untouched, null for "reset to default". */
export type Draft = Readonly<Record<string, string | null>>;
export type Issues = Readonly<Record<string, string>>;

const FLAGS: Readonly<Record<string, boolean>> = { yes: true, no: false };

/** The text below a field: required mark, help and source of the value. */
export function helpText({ required, help, origin }: FieldRow): string {
  return [required ? 'Required' : '', help, origin].filter(Boolean).join(' · ');
}

/** Formats a value for a field. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' ? mapLines(value).join('\n') : String(value);
}

/** Parses a field. Invalid text is returned unchanged, so that the schema reports it. */
export function meaningOf(kind: FieldKind, text: string): unknown {
  const trimmed = text.trim();
  if (kind === 'flag') return FLAGS[trimmed] ?? trimmed;
  if (kind === 'number') return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
  if (kind === 'duration') return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
  if (kind === 'map') return parseMapLines(trimmed) ?? trimmed;
  if (kind !== 'list') return trimmed;
  return trimmed
    .split(/[\n,]/)
    .map((entry) => entry.trim())
    .filter(Boolean);
}

function put(body: Record<string, unknown>, key: string, value: unknown): void {
  const [first = key, ...rest] = key.split('.');
  if (rest.length === 0) {
    body[first] = value;
    return;
  }
  const inner = (body[first] ?? {}) as Record<string, unknown>;
  body[first] = inner;
  put(inner, rest.join('.'), value);
}

/** The body with changed fields only. A cleared field resets to its default. */
export function bodyOf(rows: readonly FieldRow[], draft: Draft, baseline: Draft): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { key, kind } of rows) {
    const [now, before] = [draft[key] ?? null, baseline[key] ?? ''];
    const reset = draft[key] === null;
    if (!reset && (now ?? '') === before) continue;
    put(body, key, reset || now === null || now.trim() === '' ? null : meaningOf(kind, now));
  }
  return body;
}

interface Schema {
  safeParse(value: unknown): {
    success: boolean;
    error?: { issues: readonly z.core.$ZodIssue[] };
  };
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** A reason as a sentence: what to enter in an empty field, else what the field must be. */
function inWords({ label, help }: Pick<FieldRow, 'label' | 'help'>, reason: string): string {
  if (reason === 'is required') return `Enter ${/^[aeiou]/i.test(label) ? 'an' : 'a'} ${lowerFirst(label)}.`;
  if (reason.startsWith('must match ')) return fieldSentence(label, `is not valid. ${help}`);
  return fieldSentence(label, reason);
}

/** Validation errors of a body by field, from the schema of the daemon, as sentences. */
export function issuesOf(schema: Schema, body: unknown, rows: readonly FieldRow[]): Issues {
  const parsed = schema.safeParse(body);
  const found: Record<string, string> = {};
  for (const issue of parsed.error?.issues ?? []) {
    const full = issue.path.map(String).join('.');
    const row = rows.find(({ key }) => full === key || full.startsWith(`${key}.`));
    const reason = zodMessage(issue);
    found[row?.key ?? full] ??= row === undefined ? fieldSentence(full, reason) : inWords(row, reason);
  }
  return found;
}

/** Validation errors by field, from the details of an error response, as sentences. */
export function refusedFields(
  details: Record<string, unknown> | undefined,
  rows: readonly FieldRow[],
): Issues {
  const fields = Array.isArray(details?.fields)
    ? (details.fields as { path?: unknown; reason?: unknown }[])
    : [];
  return Object.fromEntries(
    fields.flatMap(({ path, reason }) =>
      typeof path === 'string' && typeof reason === 'string'
        ? [[path, inWords(rows.find(({ key }) => key === path) ?? { label: path, help: '' }, reason)]]
        : [],
    ),
  );
}
