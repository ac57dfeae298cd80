import type { Dirent } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GatewayError } from '../../contract/errors.ts';
import { syncFolder } from '../../lib/fs/temp-file.ts';
import { isRepoName, isSafePath } from './hub-names.ts';

/** Hidden from every scan, on the file system of the models, so that a rename is enough at the end. */
const FOLDER = '.pulls';
const JOB = /^[0-9a-f]{16}$/;

/** Where a job keeps its files until all of them are whole, and where they belong then. */
export interface Staging {
  /** The file while its bytes come. */
  partPath(path: string): string;
  /** The file once it was verified. */
  verifiedPath(path: string): string;
  /** The file in its place. */
  finalPath(path: string): string;
  readonly folder: string;
  /** The folder of the repository below the models. */
  readonly target: string;
  /** Makes the folders of these files. */
  createFolders(paths: readonly string[]): Promise<void>;
  /** Gives a verified file its name within the job. */
  markVerified(path: string): Promise<void>;
  /** Bytes of a file that are there, and whether it was verified. */
  progress(path: string): Promise<{ bytes: number; whole: boolean }>;
  /** Bytes of a file that are there, here or in its place. */
  availableBytes(file: { path: string; size: number }): Promise<number>;
  /** Moves all files to where they belong; may be done again after it was cut off. */
  install(paths: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

/** A folder below the models by its parts, made where it is missing; refuses to go through a symbolic link. */
async function ownFolder(root: string, parts: readonly string[]): Promise<string> {
  let at = root;
  for (const part of parts) {
    at = join(at, part);
    await mkdir(at, { mode: 0o755 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await lstat(at)).isDirectory())
      throw new GatewayError('pull.bad_name', {
        message: 'A folder of this repository is something else in the models folder.',
      });
  }
  return at;
}

/** Bytes of a file; null when it is not there. Rejects with whatever else the disk says: a file is not lost because of that. */
const sizeOf = async (path: string): Promise<number | null> =>
  stat(path).then(
    (facts) => facts.size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );

/** Whether a file of this size lies there. */
export const hasSize = (path: string, size: number): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isFile() && facts.size === size,
    () => false,
  );

/** The staging of one job below `root`, the models folder. Throws for names that were not checked. */
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

/** Removes what jobs left that nobody knows any more; answers how many. */
export async function sweepStaging(root: string, known: ReadonlySet<string>): Promise<number> {
  const entries: Dirent[] = await readdir(join(root, FOLDER), { withFileTypes: true }).catch(() => []);
  const lost = entries.filter(({ name }) => JOB.test(name) && !known.has(name));
  for (const { name } of lost) await rm(join(root, FOLDER, name), { recursive: true, force: true });
  return lost.length;
}
