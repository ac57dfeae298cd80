import { z } from 'zod';
import { DATABASE_MEMBER, ENV_MEMBER, MAX_MEMBERS, maxBytesOf } from './names.ts';

/** The archive format. A change that an older release could not read gets the next number. */
const FORMAT = 1;

const FileRow = z.strictObject({
  name: z.string(),
  size: z.number().int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const Manifest = z.object({
  format: z.number().int().min(1),
  product: z.literal('svc-gateway'),
  version: z.string().max(64),
  made_at: z.string().max(64),
  /** Version of the database's schema; 0 without a database. */
  schema: z.number().int().min(0),
  keys: z.boolean(),
  files: z.array(FileRow).max(MAX_MEMBERS),
});

/** The first member of a backup: what follows, with sizes and sums. */
export type Manifest = z.infer<typeof Manifest>;
export type FileRow = z.infer<typeof FileRow>;

export const makeManifest = (content: Omit<Manifest, 'format' | 'product'>): Manifest => ({
  format: FORMAT,
  product: 'svc-gateway',
  ...content,
});

export type ReadManifest =
  | { readonly kind: 'good'; readonly manifest: Manifest }
  /** Made by a release that this one does not support. */
  | { readonly kind: 'newer' }
  | { readonly kind: 'wrong'; readonly reason: string };

const wrong = (reason: string): ReadManifest => ({ kind: 'wrong', reason });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Validates a manifest before any listed file is read. `schema` is the newest supported version. */
export function readManifest(text: string, schema: number): ReadManifest {
  const value = parsed(text);
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > FORMAT) return { kind: 'newer' };
  const read = Manifest.safeParse(value);
  if (!read.success) return wrong('its file list cannot be read');
  const { files, keys } = read.data;
  const names = files.map(({ name }) => name);
  const invalid = files.find(({ name, size }) => size > (maxBytesOf(name) ?? -1));
  if (invalid !== undefined) {
    const known = maxBytesOf(invalid.name) !== null;
    return wrong(known ? 'it lists a file that is too large' : 'it lists an unexpected file');
  }
  if (new Set(names).size !== names.length) return wrong('it lists a file twice');
  if (!keys && names.includes(ENV_MEMBER)) return wrong('it contains keys but declares none');
  if (names.includes(DATABASE_MEMBER) && read.data.schema > schema) return { kind: 'newer' };
  return { kind: 'good', manifest: read.data };
}
