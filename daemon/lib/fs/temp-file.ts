import { randomBytes } from 'node:crypto';
import { lstat, open, readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The moments of a file replacement at which a test may fail or kill; called right before each of them. */
export type FaultStep = 'open' | 'write' | 'fsync' | 'rename' | 'fsyncdir';
export type FaultHook = (step: FaultStep) => void;

const TEMP_NAME = /^\..+\.(\d+)\.[0-9a-f]{16}\.tmp$/;
/** A temporary file older than this is left over, whoever now has its process id. */
const STALE_MS = 10 * 60_000;

const tempPath = (target: string): string =>
  join(dirname(target), `.${basename(target)}.${process.pid}.${randomBytes(8).toString('hex')}.tmp`);

/** Who may read the finished file; null owner fields stay those of this process. */
export interface TempAccess {
  mode: number;
  uid?: number;
  gid?: number;
}

/**
 * Writes `bytes`, or what comes in pieces, to a new file beside `target`, created exclusively with mode 0600, flushed to the device, and
 * answers its path. Owner and mode are set last. After an error nothing is left behind.
 */
export async function writeTemp(
  target: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  access: TempAccess,
  faults: FaultHook = () => {},
): Promise<string> {
  const temp = tempPath(target);
  faults('open');
  const handle = await open(temp, 'wx', 0o600);
  try {
    faults('write');
    await handle.writeFile(bytes);
    let mode = access.mode;
    if (access.uid !== undefined && access.gid !== undefined) {
      const ownerSet = await handle.chown(access.uid, access.gid).then(
        () => true,
        () => false,
      );
      if (!ownerSet) mode &= ~0o070;
    }
    await handle.chmod(mode);
    faults('fsync');
    await handle.sync();
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => {});
    await unlink(temp).catch(() => {});
    throw error;
  }
  return temp;
}

/** Makes the names in `folder` durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Removes temporary files that an interrupted replacement left in `folder` and answers how many. A file of a process
 * that still runs is kept while it is younger than ten minutes. Call it once at start, before the first write.
 */
export async function sweepTemps(folder: string): Promise<number> {
  let removed = 0;
  for (const name of await readdir(folder)) {
    const pid = TEMP_NAME.exec(name)?.[1];
    if (pid === undefined) continue;
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => null);
    if (!stats?.isFile()) continue;
    if (isAlive(Number(pid)) && Date.now() - stats.mtimeMs < STALE_MS) continue;
    await unlink(path).then(
      () => removed++,
      () => {},
    );
  }
  return removed;
}
