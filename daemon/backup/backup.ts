import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { GatewayError } from '../contract/errors.ts';
import { pipeThrough } from '../lib/async/pipe-through.ts';
import { runAsOwnerOf } from '../lib/fs/as-owner.ts';
import { BLOCK_BYTES, paddingOf, tarHeader } from '../lib/fs/tar-header.ts';
import { type FaultHook, syncFolder, writeTemp } from '../lib/fs/temp-file.ts';
import { startTicksOf } from '../lib/process/process-identity.ts';
import { SetupError } from '../lib/setup-error.ts';
import type { Folders } from '../settings/folders.ts';
import { copyDatabase } from '../store/copy.ts';
import { FILE_NAME } from '../store/open.ts';
import { describeError } from '../store/sqlite-errors.ts';
import { archivePath } from './archive-path.ts';
import { type ConfigFile, readConfigFiles } from './config-files.ts';
import { makeManifest } from './manifest.ts';
import { DATABASE_MEMBER, MANIFEST } from './names.ts';

export interface BackupOptions {
  folders: Folders;
  file: string;
  /** Takes the keys too. */
  keys: boolean;
  /** Replaces an existing file. */
  force: boolean;
  version: string;
  now?: Date;
  faults?: FaultHook;
}

export interface BackupReport {
  file: string;
  /** The configuration folder that was backed up. */
  config: string;
  bytes: number;
  /** Members of the archive. */
  files: string[];
  keys: boolean;
  /** Whether there was a database. */
  database: boolean;
  /** Configuration files that are not in the archive, with the reason. */
  left_out: string[];
}

interface DatabaseCopy {
  /** Opened by the owner, so that it cannot be replaced by a symlink. */
  handle: FileHandle;
  size: number;
  sha256: string;
  schema: number;
}

interface BackupContent {
  files: readonly ConfigFile[];
  skipped: readonly string[];
  database: DatabaseCopy | null;
}

const COPIES = '.backup-';
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const contentOf = (handle: FileHandle) => handle.createReadStream({ start: 0, autoClose: false });

async function sumOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of contentOf(handle)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

const NONE_LEFT = 'no partial file is left';

function notWritten(what: string, then: string, cause: unknown): GatewayError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
  return new GatewayError('backup.write_failed', { message: `${what} (${code}); ${then}.`, cause });
}

/** Removes database copies of killed backups. */
async function sweepCopies(state: string): Promise<void> {
  for (const name of await readdir(state).catch(() => [])) {
    if (!name.startsWith(COPIES)) continue;
    const pid = Number(name.slice(COPIES.length));
    if (pid === process.pid || startTicksOf(pid) === null) await rm(join(state, name), { recursive: true });
  }
}

async function copyOf(state: string): Promise<DatabaseCopy | null> {
  if (!existsSync(join(state, FILE_NAME))) return null;
  const folder = join(state, `${COPIES}${process.pid}`);
  await mkdir(folder, { mode: 0o700 });
  const file = join(folder, FILE_NAME);
  const schema = await copyDatabase(join(state, FILE_NAME), file).catch((cause: unknown) => {
    throw new GatewayError('backup.database', {
      message: `The database could not be copied (${describeError(cause)}), so no backup was made.`,
      cause,
    });
  });
  if (schema === null) return null;
  const handle = await open(file, 'r');
  try {
    return { handle, schema, size: (await handle.stat()).size, sha256: await sumOf(handle) };
  } catch (error) {
    await handle.close().catch(() => {});
    throw error;
  }
}

async function gather({ folders, keys }: BackupOptions): Promise<BackupContent> {
  const { files, skipped } = await readConfigFiles(folders.config, keys).catch((cause) => {
    throw notWritten('The configuration could not be read', 'so no backup was made', cause);
  });
  await sweepCopies(folders.state);
  const database = await copyOf(folders.state);
  if (files.length + skipped.length > 0 || database !== null) return { files, skipped, database };
  throw new SetupError(
    `There is nothing to back up in ${folders.config} and ${folders.state}.`,
    'Run as the user of the gateway, or set SVC_HOME.',
  );
}

function manifestOf({ files, database }: BackupContent, options: BackupOptions): Buffer {
  const rows = files.map(({ name, bytes }) => ({ name, size: bytes.length, sha256: sha256(bytes) }));
  const last = database === null ? [] : [{ name: DATABASE_MEMBER, ...pick(database) }];
  const manifest = makeManifest({
    version: options.version,
    made_at: (options.now ?? new Date()).toISOString(),
    schema: database?.schema ?? 0,
    keys: options.keys,
    files: [...rows, ...last],
  });
  return Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
}

const pick = ({ size, sha256 }: DatabaseCopy) => ({ size, sha256 });

/** The archive in chunks. The manifest comes first, so that a reader knows what to expect. */
async function* archiveChunks(gathered: BackupContent, options: BackupOptions): AsyncGenerator<Buffer> {
  const mtime = Math.floor((options.now?.getTime() ?? Date.now()) / 1000);
  const head = (name: string, size: number) => tarHeader({ name, mode: 0o600, size, mtime, type: '0' });
  const manifest = { name: MANIFEST, bytes: manifestOf(gathered, options) };
  for (const { name, bytes } of [manifest, ...gathered.files]) {
    yield head(name, bytes.length);
    yield bytes;
    yield Buffer.alloc(paddingOf(bytes.length));
  }
  const { database } = gathered;
  if (database !== null) {
    yield head(DATABASE_MEMBER, database.size);
    yield* contentOf(database.handle);
    yield Buffer.alloc(paddingOf(database.size));
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** Writes a temporary file and renames it, so that the name always refers to a whole archive, old or new. */
async function write(
  gathered: BackupContent,
  file: string,
  options: BackupOptions,
): Promise<{ bytes: number }> {
  const { faults } = options;
  try {
    const source = Readable.from(archiveChunks(gathered, options), { objectMode: false });
    const stream = pipeThrough(source, createGzip());
    const temp = await writeTemp(file, stream, { mode: 0o600 }, faults);
    try {
      const { size } = await stat(temp);
      faults?.('rename');
      await rename(temp, file);
      await syncFolder(dirname(file)).catch(() => {});
      return { bytes: size };
    } catch (error) {
      await unlink(temp).catch(() => {});
      throw error;
    }
  } catch (cause) {
    throw notWritten('The backup could not be written', NONE_LEFT, cause);
  }
}

/**
 * Writes configuration, slot and upstream files and the database to one compressed archive that only its
 * owner can read. The gateway may be running. Models are not included, keys only on request. The database is
 * first copied within the state folder, which needs space for the copy. Root reads as the owner of the state
 * folder and writes the archive as root. Throws GatewayError, and SetupError when there is nothing to back
 * up.
 */
export async function backup(options: BackupOptions): Promise<BackupReport> {
  const { file, force, folders } = options;
  if (!force && existsSync(file)) throw new GatewayError('backup.exists');
  let copy: DatabaseCopy | null = null;
  try {
    const path = await archivePath(file);
    const gathered = await runAsOwnerOf(folders.state, () => gather(options));
    copy = gathered.database;
    const { bytes } = await write(gathered, path, options);
    const database = gathered.database === null ? [] : [DATABASE_MEMBER];
    return {
      file,
      config: folders.config,
      bytes,
      files: [...gathered.files.map(({ name }) => name), ...database],
      keys: options.keys,
      database: gathered.database !== null,
      left_out: [...gathered.skipped],
    };
  } catch (cause) {
    throw cause instanceof GatewayError || cause instanceof SetupError
      ? cause
      : notWritten('The backup could not be made', NONE_LEFT, cause);
  } finally {
    await (copy as DatabaseCopy | null)?.handle.close().catch(() => {});
    await runAsOwnerOf(folders.state, () => sweepCopies(folders.state)).catch(() => {});
  }
}
