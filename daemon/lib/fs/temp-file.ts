import { randomBytes } from 'node:crypto';
import { lstat, open, readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Steps of a file replacement at which a test may fail or kill the process. The hook runs right before each
 * step.
 */
export type FaultStep = 'open' | 'write' | 'fsync' | 'rename' | 'fsyncdir';
export type FaultHook = (step: FaultStep) => void;

const TEMP_NAME = /^\..+\.(\d+)\.[0-9a-f]{16}\.tmp$/;
/**
 * A temporary file older than this is stale even if its process id is in use: the id may have been
 * reassigned.
 */
const STALE_MS = 10 * 60_000;

const tempPath = (target: string): string =>
  join(dirname(target), `.${basename(target)}.${process.pid}.${randomBytes(8).toString('hex')}.tmp`);

/** Mode and owner of the finished file. Without `uid` and `gid` the owner is that of this process. */
export interface TempAccess {
  mode: number;
  uid?: number;
  gid?: number;
}

/**
 * Writes `bytes` to a new temporary file next to `target` and returns its path. The file is created
 * exclusively with mode 0600 and flushed to the device. Owner and mode are set last. Leaves no file behind
 * after an error.
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

/** Flushes the directory entries of `folder` to the device. */
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
 * Removes temporary files that interrupted replacements left in `folder` and returns their number. Keeps a
 * file of a running process while it is younger than ten minutes. Call it once at start, before the first
 * write.
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
