import { lstat, readdir, realpath, rm, rmdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { GatewayError } from '../contract/errors.ts';
import type { RegisteredModel } from './registered-model.ts';

const notRemovedError = () => new GatewayError('model.kept');

/** Returns whether `path` itself, not a link's target, is inside `root`. */
async function isInside(root: string, path: string): Promise<boolean> {
  const real = await realpath(dirname(path)).catch(() => null);
  return (
    real !== null &&
    `${real}${sep}`.startsWith(`${await realpath(root)}${sep}`) &&
    real !== (await realpath(root))
  );
}

async function pruneEmpty(root: string, from: string): Promise<void> {
  let folder = from;
  while (folder.startsWith(`${root}${sep}`) && (await readdir(folder).catch(() => ['?'])).length === 0) {
    await rmdir(folder).catch(() => {});
    folder = dirname(folder);
  }
}

/** Returns the files of a pulled model that no other model needs. */
function removableFiles(model: RegisteredModel, others: readonly RegisteredModel[]): string[] {
  const needed = new Set(others.flatMap(({ files, projectorPath }) => [...files, projectorPath]));
  const all = model.projectorPath === null ? model.files : [...model.files, model.projectorPath];
  return all.filter((path) => !needed.has(path));
}

/**
 * Removes the files of a model that was pulled into `root`, the models folder, and folders that become empty.
 * Returns the number of files (a folder counts as one). Throws `model.kept` and removes nothing for files
 * that are not ours: pulled elsewhere, behind a link, or in a folder that contains other models.
 */
export async function removeFiles(
  root: string,
  model: RegisteredModel,
  others: readonly RegisteredModel[],
): Promise<number> {
  if (model.source !== 'pull') throw notRemovedError();
  const paths = removableFiles(model, others);
  for (const path of paths) {
    const stats = await lstat(path).catch(() => null);
    if (stats === null) continue;
    if (stats.isSymbolicLink() || !(await isInside(root, path))) throw notRemovedError();
    const inside = (other: RegisteredModel) => other.path.startsWith(`${path}${sep}`);
    if (stats.isDirectory() && others.some(inside)) throw notRemovedError();
  }
  for (const path of paths) await rm(path, { recursive: true, force: true });
  for (const folder of new Set(paths.map((path) => dirname(path)))) await pruneEmpty(join(root), folder);
  return paths.length;
}
