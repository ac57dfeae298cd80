/** Input kind: a `list` has one entry per line, a `duration` is seconds or a text like "15 min". */
export type FieldKind = 'flag' | 'number' | 'text' | 'duration' | 'list' | 'choice';

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
  return Array.isArray(value) ? value.join('\n') : String(value);
}

/** Parses a field. Invalid text is returned unchanged, so that the schema reports it. */
export function meaningOf(kind: FieldKind, text: string): unknown {
  const trimmed = text.trim();
  if (kind === 'flag') return FLAGS[trimmed] ?? trimmed;
  if (kind === 'number') return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
  if (kind === 'duration') return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
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
    error?: { issues: readonly { path: readonly PropertyKey[]; message: string }[] };
  };
}

function inWords(row: FieldRow, message: string): string {
  if (message.includes('received undefined')) return 'is required';
  if (row.kind === 'number' && message.includes('expected number')) return 'must be a number';
  return message.includes('must match pattern') ? `is invalid: ${row.help}` : message;
}

/** Validation errors of a body by field, from the schema of the daemon. */
export function issuesOf(schema: Schema, body: unknown, rows: readonly FieldRow[]): Issues {
  const parsed = schema.safeParse(body);
  const found: Record<string, string> = {};
  for (const { path, message } of parsed.error?.issues ?? []) {
    const full = path.map(String).join('.');
    const row = rows.find(({ key }) => full === key || full.startsWith(`${key}.`));
    found[row?.key ?? full] ??= row === undefined ? message : inWords(row, message);
  }
  return found;
}

/** Validation errors by field, from the details of an error response. */
export function refusedFields(details: Record<string, unknown> | undefined): Issues {
  const fields = Array.isArray(details?.fields)
    ? (details.fields as { path?: unknown; reason?: unknown }[])
    : [];
  return Object.fromEntries(
    fields.flatMap(({ path, reason }) =>
      typeof path === 'string' && typeof reason === 'string' ? [[path, reason]] : [],
    ),
  );
}
