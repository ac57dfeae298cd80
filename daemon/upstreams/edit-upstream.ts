import { join } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import { invalidFieldsMessage } from '../contract/invalid-request.ts';
import { upstreamNotFound } from '../contract/not-found.ts';
import {
  UPSTREAM_FIELDS,
  type UpstreamCreateBody,
  type UpstreamField,
  type UpstreamPutBody,
} from '../contract/upstreams.ts';
import { createExclusive, deleteFile, ensureFolder } from '../lib/fs/atomic-file.ts';
import type { TomlValue } from '../settings/config-file.ts';
import { editFile, guardFile } from '../settings/edit-file.ts';
import { unguarded } from '../settings/revision.ts';
import { type KeyChanges, setTomlKeys } from '../settings/toml-keys.ts';
import { parseBaseUrl } from './base-url.ts';
import { readUpstreamFile, UPSTREAM_FILE_CAP } from './upstream-file.ts';
import { MAX_UPSTREAMS } from './upstream-folder.ts';

const FIELDS = Object.keys(UPSTREAM_FIELDS) as UpstreamField[];
const HEAD = '# An upstream of svc-gateway. The key itself is in api.env, under the name of key_env.\n';

type Body = Partial<Record<UpstreamField, TomlValue | null>>;

/** The keys that a body names, in the order of the table. */
function changesOf(body: Body): KeyChanges {
  const named = FIELDS.filter((field) => body[field] !== undefined);
  return Object.fromEntries(named.map((field) => [field, body[field] ?? null]));
}

/**
 * Throws `upstream.invalid` with field and reason for text that is not a valid upstream file, never with a
 * value.
 */
function checked(name: string, text: string): Buffer {
  const { config, problems } = readUpstreamFile(`${name}.toml`, text);
  if (config !== null) return Buffer.from(text);
  const fields = problems.map(({ message }) => {
    const [, path = '', reason = message] = /^(\w+)(?:\.\d+)?: (.*)$/.exec(message) ?? [];
    return { path, reason };
  });
  throw new GatewayError('upstream.invalid', { message: invalidFieldsMessage(fields), details: { fields } });
}

/** Writes the file of a new upstream. Throws `upstream.exists`, `upstream.invalid` and FileWriteError. */
export async function createUpstreamFile(
  folder: string,
  { name, ...body }: UpstreamCreateBody,
  known: number,
): Promise<void> {
  if (known >= MAX_UPSTREAMS) {
    throw new GatewayError('upstream.invalid', {
      message: `There are already ${MAX_UPSTREAMS} upstreams. Remove one first.`,
    });
  }
  const bytes = checked(name, HEAD + setTomlKeys('', changesOf(body)));
  const path = join(folder, `${name}.toml`);
  await ensureFolder(folder);
  if (!(await createExclusive(path, bytes, 0o600))) throw new GatewayError('upstream.exists');
}

/**
 * Changes the named keys in the file of an upstream; all other bytes stay. A new `base_url` removes `key_env`
 * unless the body names one, so that a key is never sent to a new address implicitly. Throws
 * `upstream.invalid`, what `guard` throws, ConfigEditError and FileWriteError; nothing has changed then.
 */
export async function changeUpstreamFile(
  folder: string,
  name: string,
  body: UpstreamPutBody,
  guard = unguarded,
): Promise<void> {
  const edit = (bytes: Buffer | null): Buffer => {
    guard(bytes);
    if (bytes === null) throw upstreamNotFound(name);
    const text = bytes.toString('utf8');
    const before = readUpstreamFile(`${name}.toml`, text).config;
    const changes: Record<string, TomlValue | null> = { ...changesOf(body) };
    if (body.base_url !== undefined && body.key_env === undefined) {
      const next = parseBaseUrl(body.base_url);
      const moved = before === null || typeof next === 'string' || next.text !== before.at.text;
      if (moved) changes.key_env = null;
    }
    return checked(name, setTomlKeys(text, changes));
  };
  const path = join(folder, `${name}.toml`);
  await editFile(path, edit, {
    maxBytes: UPSTREAM_FILE_CAP,
    newMode: 0o600,
    keepMode: 0o666,
    within: folder,
  });
}

/** Throws `upstream.not_found`, what `guard` throws, and FileWriteError. */
export async function removeUpstreamFile(folder: string, name: string, guard = unguarded): Promise<void> {
  const path = join(folder, `${name}.toml`);
  await guardFile(path, guard, UPSTREAM_FILE_CAP);
  if (!(await deleteFile(path))) throw upstreamNotFound(name);
}
