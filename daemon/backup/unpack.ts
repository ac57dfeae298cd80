import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { GatewayError } from '../contract/errors.ts';
import { pipeThrough } from '../lib/async/pipe-through.ts';
import { TarError, type TarMember } from '../lib/fs/tar-header.ts';
import { readTar, type TarSink } from '../lib/fs/tar-reader.ts';
import { NEWEST_SCHEMA } from '../store/copy.ts';
import { inspect } from '../store/integrity.ts';
import { type FileRow, type Manifest, readManifest } from './manifest.ts';
import { DATABASE_MEMBER, MANIFEST, MANIFEST_BYTES } from './names.ts';

/** Bytes that must stay free after unpacking. */
const RESERVE_BYTES = 64 << 20;
/** A member that is an ordinary file. */
const FILE = '0';

const invalid = (what: string, cause?: unknown): GatewayError =>
  new GatewayError('restore.invalid', { message: `The archive ${what}; nothing has changed.`, cause });

/** Returns why this member is not permitted here, or null. */
function objection(member: TarMember, row: FileRow | undefined): string | null {
  const shown = JSON.stringify(member.name.slice(0, 100));
  if (member.type !== FILE) return `holds ${shown}, which is not a regular file`;
  if (row === undefined) return `holds ${shown}, which is not in its file list`;
  return row.size === member.size ? null : `holds ${shown} whose size differs from its file list`;
}

async function requireFreeSpace(folder: string, manifest: Manifest): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const needed = manifest.files.reduce((sum, { size }) => sum + size, 0);
  if (bavail * bsize < needed + RESERVE_BYTES) throw new GatewayError('restore.no_space');
}

function parseManifest(text: string): Manifest {
  const read = readManifest(text, NEWEST_SCHEMA);
  if (read.kind === 'newer') throw new GatewayError('restore.newer');
  if (read.kind === 'wrong') throw invalid(`is not accepted: ${read.reason}`);
  return read.manifest;
}

/** Unpacks the members of one archive into a folder. */
class Unpacking {
  readonly #folder: string;
  readonly #expected = new Map<string, FileRow>();
  #open: FileHandle | null = null;
  manifest: Manifest | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async open(member: TarMember): Promise<TarSink> {
    if (this.manifest === null) return this.#first(member);
    const row = this.#expected.get(member.name);
    const reason = objection(member, row);
    if (reason !== null) throw invalid(reason);
    this.#expected.delete(member.name);
    return this.#file(row as FileRow);
  }

  /** Returns a listed member that was missing from the archive. */
  missing(): string | null {
    return [...this.#expected.keys()][0] ?? null;
  }

  #first({ name, size, type }: TarMember): TarSink {
    if (name !== MANIFEST || type !== FILE || size > MANIFEST_BYTES) {
      throw invalid('does not start with its file list');
    }
    const parts: Buffer[] = [];
    return {
      write: async (bytes) => void parts.push(Buffer.from(bytes)),
      end: async () => {
        const manifest = parseManifest(Buffer.concat(parts).toString('utf8'));
        await requireFreeSpace(this.#folder, manifest);
        for (const row of manifest.files) this.#expected.set(row.name, row);
        this.manifest = manifest;
      },
    };
  }

  /** The name is from the fixed list, so the path stays inside the folder. */
  async #file({ name, sha256 }: FileRow): Promise<TarSink> {
    const path = join(this.#folder, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const handle = await open(path, 'wx', 0o600);
    const hash = createHash('sha256');
    this.#open = handle;
    return {
      write: async (bytes) => {
        hash.update(bytes);
        await handle.writeFile(bytes);
      },
      end: async () => {
        await handle.sync();
        await handle.close();
        if (hash.digest('hex') !== sha256) throw invalid(`is damaged: checksum mismatch of ${name}`);
      },
    };
  }

  async close(): Promise<void> {
    await this.#open?.close().catch(() => {});
  }
}

/** Converts errors of the archive itself. Returns other errors unchanged. */
function asRestoreError(error: unknown): unknown {
  if (error instanceof TarError) return invalid(error.message, error);
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  if (code === 'Z_BUF_ERROR') return invalid('is truncated', error);
  if (/^Z_/.test(code)) return invalid('is not a gzip file, or is damaged', error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new GatewayError('restore.no_space', { cause: error });
  return error;
}

function checkDatabase(file: string): void {
  const found = inspect(file);
  if (found.state !== 'sound') throw invalid('contains a damaged database');
  if (found.version > NEWEST_SCHEMA) throw new GatewayError('restore.newer');
}

/**
 * Unpacks a whole backup into `folder`, which is emptied first, and checks it: the file list comes first,
 * every member is a regular file from the list with its size and checksum, and none is missing. Names come
 * from a fixed list. Nothing else is touched. Throws GatewayError `restore.*`; the folder is removed then.
 */
export async function unpack(archive: FileHandle, folder: string): Promise<Manifest> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  const unpacking = new Unpacking(folder);
  try {
    const source = archive.createReadStream({ start: 0, autoClose: false });
    await readTar(pipeThrough(source, createGunzip()), (member) => unpacking.open(member));
    const { manifest } = unpacking;
    const missing = unpacking.missing();
    if (manifest === null) throw invalid('is empty');
    if (missing !== null) throw invalid(`lacks ${missing}`);
    if (manifest.files.some(({ name }) => name === DATABASE_MEMBER))
      checkDatabase(join(folder, DATABASE_MEMBER));
    return manifest;
  } catch (error) {
    await unpacking.close();
    await rm(folder, { recursive: true, force: true });
    throw asRestoreError(error);
  }
}
