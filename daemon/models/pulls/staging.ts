import type { Dirent } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GatewayError } from '../../contract/errors.ts';
import { syncFolder } from '../../lib/fs/temp-file.ts';
import { isRepoName, isSafePath } from './hub-names.ts';

/** Hidden from scans, on the file system of the models, so that installing is a rename. */
const FOLDER = '.pulls';
const JOB = /^[0-9a-f]{16}$/;

/** Folders of a job: where files are kept until all are verified, and where they are installed. */
export interface Staging {
  /** Returns the path of a file while it is downloaded. */
  partPath(path: string): string;
  /** Returns the path of a file after verification. */
  verifiedPath(path: string): string;
  /** Returns the path of an installed file. */
  finalPath(path: string): string;
  readonly folder: string;
  /** The folder of the repository below the models folder. */
  readonly target: string;
  /** Creates the folders of these files. */
  createFolders(paths: readonly string[]): Promise<void>;
  /** Renames a verified file within the job. */
  markVerified(path: string): Promise<void>;
  /** Returns the downloaded bytes of a file and whether it was verified. */
  progress(path: string): Promise<{ bytes: number; whole: boolean }>;
  /** Returns the bytes of a file that exist, staged or installed. */
  availableBytes(file: { path: string; size: number }): Promise<number>;
  /** Moves all files to their targets. May be repeated after an interruption. */
  install(paths: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** Returns a folder below the models folder and creates missing parts. Throws at a symbolic link. */
async function ownFolder(root: string, parts: readonly string[]): Promise<string> {
  let at = root;
  for (const part of parts) {
    at = join(at, part);
    await mkdir(at, { mode: 0o755 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await lstat(at)).isDirectory())
      throw new GatewayError('pull.bad_name', {
        message: 'The models folder has a file where this repository needs a folder.',
      });
  }
  return at;
}

/**
 * Returns the size of a file. Null when it does not exist. Rejects with any other disk error, which does not
 * mean that the file is lost.
 */
const sizeOf = async (path: string): Promise<number | null> =>
  stat(path).then(
    (stats) => stats.size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );

/** Returns whether a file of this size exists. */
export const hasSize = (path: string, size: number): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isFile() && stats.size === size,
    () => false,
  );

/** Returns the staging of one job below `root`, the models folder. Throws for names that were not validated. */
export function stagingOf(root: string, id: string, repo: string): Staging {
  if (!JOB.test(id) || !isRepoName(repo)) throw new Error('a pull with an unchecked name');
  const folder = join(root, FOLDER, id);
  const within = (base: string, path: string): string => {
    if (!isSafePath(path)) throw new Error('a pull with an unchecked name');
    return join(base, ...path.split('/'));
  };
  const whole = (path: string) => within(folder, path);
  const target = join(root, ...repo.split('/'));
  const part = (path: string) => `${whole(path)}.part`;
  const progress = async (path: string) => {
    const done = await sizeOf(whole(path));
    return { bytes: done ?? (await sizeOf(part(path))) ?? 0, whole: done !== null };
  };
  return {
    folder,
    target,
    finalPath: (path) => within(target, path),
    partPath: part,
    verifiedPath: whole,
    async createFolders(paths) {
      await mkdir(join(root, FOLDER, id), { recursive: true, mode: 0o700 });
      for (const path of new Set(paths.map((each) => dirname(whole(each)))))
        await mkdir(path, { recursive: true, mode: 0o755 });
    },
    markVerified: (path) => rename(part(path), whole(path)),
    progress,
    availableBytes: async ({ path, size }) =>
      (await hasSize(within(target, path), size)) ? size : (await progress(path)).bytes,
    async install(paths) {
      const folders = new Set<string>();
      for (const path of paths) {
        const inner = path.split('/');
        const base = await ownFolder(root, [...repo.split('/'), ...inner.slice(0, -1)]);
        folders.add(base);
        if ((await sizeOf(whole(path))) !== null)
          await rename(whole(path), join(base, inner.at(-1) as string));
      }
      for (const each of folders) await syncFolder(each);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Removes files of unknown jobs. Returns their number. */
export async function sweepStaging(root: string, known: ReadonlySet<string>): Promise<number> {
  const entries: Dirent[] = await readdir(join(root, FOLDER), { withFileTypes: true }).catch(() => []);
  const lost = entries.filter(({ name }) => JOB.test(name) && !known.has(name));
  for (const { name } of lost) await rm(join(root, FOLDER, name), { recursive: true, force: true });
  return lost.length;
}
