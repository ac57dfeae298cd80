import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeGguf, type GgufModel } from '../../models/gguf/writer.ts';

/** A new home folder for a gateway, which removes it: for what must be there, or have a path, before the start. */
export const newHome = (): string => mkdtempSync(join(tmpdir(), 'svc-test-'));

/** Where a gateway with this home looks for models; it is there afterwards. */
export function modelFolder(home: string): string {
  const folder = join(home, 'state', 'models');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Writes a model as a file of `folder` and answers its path. */
export function writeModel(folder: string, id: string, model: GgufModel): string {
  const path = join(folder, `${id}.gguf`);
  writeFileSync(path, encodeGguf(model));
  return path;
}

/** Puts a model where a gateway with this home finds it. */
export const putModel = (home: string, id: string, model: GgufModel): string =>
  writeModel(modelFolder(home), id, model);
