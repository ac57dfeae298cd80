import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeGguf, type GgufModel } from '../../models/testing/gguf/writer.ts';

/** Creates a home folder that the gateway removes later. For files that must exist before the start. */
export const newHome = (): string => mkdtempSync(join(tmpdir(), 'svc-test-'));

/** Returns the model folder of a home and creates it. */
export function modelFolder(home: string): string {
  const folder = join(home, 'state', 'models');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Writes a model into `folder` and returns its path. */
export function writeModel(folder: string, id: string, model: GgufModel): string {
  const path = join(folder, `${id}.gguf`);
  writeFileSync(path, encodeGguf(model));
  return path;
}

/** Writes a model into the model folder of a home. */
export const putModel = (home: string, id: string, model: GgufModel): string =>
  writeModel(modelFolder(home), id, model);
