import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FoundFile, findModelFile } from './scan.ts';

/** The files that decide which projector belongs to a model outside the model folders. */
export interface SiblingFiles {
  /** Files that may be projectors. */
  readonly projectors: readonly FoundFile[];
  /** Paths of the other GGUF files. One that is not registered may still be the model of a projector. */
  readonly models: readonly string[];
}

const NOTHING: SiblingFiles = { projectors: [], models: [] };
const MAX_NAMES = 4_096;
const isProjector = (name: string) => /mmproj/i.test(name);

async function readSiblings(folder: string): Promise<SiblingFiles> {
  const names = (await readdir(folder).catch(() => [])).slice(0, MAX_NAMES);
  const files = names.filter((name) => /\.gguf$/i.test(name));
  const projectors: FoundFile[] = [];
  for (const name of files.filter(isProjector)) {
    const found = await findModelFile(join(folder, name));
    if (found !== null) projectors.push(found);
  }
  const models = files.filter((name) => !isProjector(name)).map((name) => join(folder, name));
  return { projectors, models };
}

/**
 * Reads the folders of these models without subfolders. An unreadable one counts as empty. `runOnDisk` runs
 * an operation on the disk of a path. Never rejects.
 */
export async function findSiblings(
  paths: readonly string[],
  runOnDisk: (path: string, question: () => Promise<SiblingFiles>) => Promise<SiblingFiles>,
): Promise<SiblingFiles> {
  const folders = new Map(paths.map((path) => [dirname(path), path]));
  const found: SiblingFiles[] = [];
  for (const [folder, path] of folders) {
    found.push(await runOnDisk(path, () => readSiblings(folder)).catch(() => NOTHING));
  }
  return {
    projectors: found.flatMap(({ projectors }) => projectors),
    models: found.flatMap(({ models }) => models),
  };
}
