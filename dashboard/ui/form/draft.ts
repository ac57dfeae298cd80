/** How a value is typed: a `list` has one entry per line, a `duration` is seconds or a text like "15 min". */
export type FieldKind = 'flag' | 'number' | 'text' | 'duration' | 'list' | 'choice';

export interface FieldRow {
  /** Where the value stands in the body; a dot leads inside an object. */
  readonly key: string;
  readonly label: string;
  readonly help: string;
  readonly kind: FieldKind;
  readonly choices?: readonly string[];
  /** Where the value of now comes from, in words; shown behind the help. */
  readonly origin?: string;
  /** There is no default: nothing is sent without it. */
  readonly required?: boolean;
  /** What the empty field shows: an example of a required one, else what empty means here. */
  readonly placeholder?: string;
  /** Offered while typing; anything else may be typed too. */
  readonly suggestions?: readonly string[];
}

/** What stands in the fields: a text, empty where nothing was typed, null for "back to the default". */
export type Draft = Readonly<Record<string, string | null>>;
export type Issues = Readonly<Record<string, string>>;

const FLAGS: Readonly<Record<string, boolean>> = { yes: true, no: false };

/** What stands below a field: whether it is required, what it is for, where its value comes from. */
export function helpText({ required, help, origin }: FieldRow): string {
  return [required ? 'Required' : '', help, origin].filter(Boolean).join(' · ');
}

/** A value as it stands in a field. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join('\n') : String(value);
}

/** What a text means; one that does not fit its kind stays a text, so that the schema names it. */
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

/** The body with what differs from the baseline alone; a field that was emptied goes back to its default. */
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
  if (row.kind === 'number' && message.includes('expected number')) return 'must be a number';
  return message.includes('must match pattern') ? `does not fit: ${row.help}` : message;
}

/** What the schema of the daemon says against a body, by field; numbers are named in plain words. */
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

/** The same as the daemon said it in the details of a refusal. */
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
