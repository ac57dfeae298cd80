import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { createExclusive, replaceFile } from '../lib/fs/atomic-file.ts';
import { SetupError } from '../lib/setup-error.ts';

const BYTES = 32;
const MODE = 0o600;
/** Another process at its first start may still be writing the file, on a file system without links. */
const MAX_SHORT_READS = 20;
const SHORT_READ_WAIT_MS = 50;

/** The key that signs session cookies. */
export interface SigningSecret {
  /** The 32 bytes in force now. */
  current(): Buffer;
  /** True if opening created the file. No earlier session is valid then. */
  readonly created: boolean;
  /**
   * Creates a new secret: first in the file, then live. Runs one at a time. Throws when the file cannot be
   * replaced; the old secret stays then.
   */
  renew(): Promise<void>;
  /**
   * Uses a new secret until the next start and keeps the file: for when sessions must end and the disk
   * accepts no write.
   */
  renewInMemory(): void;
}

type FileMetadata = Pick<Stats, 'size' | 'uid' | 'mode'> & {
  kind: 'file' | 'symlink' | 'directory' | 'other';
};

/**
 * Returns what is wrong with the secret file, or null. The file has 32 bytes, belongs to the service user and
 * is readable by that user only (docs/spec/contract.md#signing-secret).
 */
export function secretFileProblem(metadata: FileMetadata, uid: number): string | null {
  if (metadata.kind !== 'file')
    return `is a ${metadata.kind === 'other' ? 'special file' : metadata.kind}, not a regular file`;
  if (metadata.uid !== uid)
    return `belongs to user id ${metadata.uid}, not to the user of the service (${uid})`;
  const mode = metadata.mode & 0o7777;
  if ((mode & ~MODE) !== 0) return `has mode ${mode.toString(8).padStart(4, '0')}, wider than 0600`;
  if (metadata.size !== BYTES) return `has ${metadata.size} bytes instead of ${BYTES}`;
  return null;
}

/**
 * Reads the signing secret and creates it on first use (docs/spec/specification.md#signing-secret). Throws
 * SetupError when the file is not exactly what this program wrote. The file is never replaced silently,
 * because that would end every session without notice.
 */
export async function openSigningSecret(
  file: string,
  uid = process.geteuid?.() ?? 0,
): Promise<SigningSecret> {
  const created = await create(file);
  let bytes = await read(file, uid);
  let tail: Promise<unknown> = Promise.resolve();
  const renewNow = async () => {
    const next = randomBytes(BYTES);
    await replaceFile(file, next, { mode: MODE, sameOwner: true });
    bytes = next;
  };
  return {
    created,
    current: () => bytes,
    renew() {
      // Concurrent renewals could end in different order in file and memory, and the next start would end
      // every session.
      const turn = tail.then(renewNow);
      tail = turn.catch(() => {});
      return turn;
    },
    renewInMemory() {
      bytes = randomBytes(BYTES);
    },
  };
}

/** Returns whether the file was created. */
async function create(file: string): Promise<boolean> {
  if (await lstat(file).catch(() => null)) return false;
  return createExclusive(file, randomBytes(BYTES), MODE).catch((error: Error) => {
    throw refusal(error.message, error);
  });
}

async function read(file: string, uid: number): Promise<Buffer> {
  for (let attempt = 1; ; attempt++) {
    const found = await readOnce(file, uid);
    if (found.bytes) return found.bytes;
    if (!found.short || attempt === MAX_SHORT_READS) throw refusal(`secret.bin ${found.problem}`);
    await wait(SHORT_READ_WAIT_MS);
  }
}

type ReadResult = { bytes: Buffer } | { bytes: null; problem: string; short: boolean };

async function readOnce(file: string, uid: number): Promise<ReadResult> {
  try {
    const named = fileMetadataOf(await lstat(file));
    if (named.kind !== 'file') return invalidResult(named, uid);
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const metadata = fileMetadataOf(await handle.stat());
      if (secretFileProblem(metadata, uid) !== null) return invalidResult(metadata, uid);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(BYTES), 0, BYTES, 0);
      return bytesRead === BYTES ? { bytes: buffer } : invalidResult({ ...metadata, size: bytesRead }, uid);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw refusal(
      `secret.bin cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
      error,
    );
  }
}

/** A file that is too short but otherwise valid may still be growing. */
function invalidResult(metadata: FileMetadata, uid: number): ReadResult {
  const short = metadata.size < BYTES && secretFileProblem({ ...metadata, size: BYTES }, uid) === null;
  return { bytes: null, problem: secretFileProblem(metadata, uid) ?? 'is wrong', short };
}

/** Returns the metadata that `secretFileProblem` checks. */
export function fileMetadataOf(stats: Stats): FileMetadata {
  const { size, uid, mode } = stats;
  if (stats.isFile()) return { size, uid, mode, kind: 'file' };
  if (stats.isSymbolicLink()) return { size, uid, mode, kind: 'symlink' };
  return { size, uid, mode, kind: stats.isDirectory() ? 'directory' : 'other' };
}

/** Advice for an invalid secret file. */
export const SECRET_ADVICE =
  'Put the right file back, or remove secret.bin from the state folder: a new one is made and every session ends.';

const refusal = (message: string, cause?: unknown): SetupError =>
  new SetupError(message, SECRET_ADVICE, { cause });
