import { truncate, writeFile } from 'node:fs/promises';
import { tensorBytes } from '../../tensor-sizes.ts';
import { headerKeys, type PublishedModel } from './model-keys.ts';
import { modelTensors } from './model-tensors.ts';
import { encodeGgufHeader, type GgufTensorHead, type GgufValue } from './writer.ts';

const F32 = 0;
const Q4_0 = 2;
/** Values of one block of `Q4_0`. Tensors of other widths, and vectors, are stored as `F32`. */
const BLOCK = 32;

function headOf({ name, shape }: { name: string; shape: readonly number[] }): GgufTensorHead {
  const isMatrix = shape.length > 1 && (shape[0] ?? 0) % BLOCK === 0;
  const type = isMatrix ? Q4_0 : F32;
  const bytes = tensorBytes({ dtype: type, shape: shape.map(BigInt), offset: 0n });
  return { name, shape, type, bytes };
}

/** Returns the tensors of a model with their types and bytes. */
export const tensorHeads = (model: PublishedModel): GgufTensorHead[] => modelTensors(model).map(headOf);

/** Returns the header of a model, and the size that its whole file would have. */
export const modelHeader = (
  model: PublishedModel,
  more: Readonly<Record<string, GgufValue>> = {},
): { bytes: Buffer; fileBytes: number } =>
  encodeGgufHeader({ ...headerKeys(model), ...more }, tensorHeads(model));

/** Writes a GGUF file with the header of a model and without weights. The file is sparse: it takes some kilobytes. */
export async function writeModelHeader(path: string, model: PublishedModel): Promise<void> {
  const { bytes, fileBytes } = modelHeader(model);
  await writeFile(path, bytes);
  await truncate(path, fileBytes);
}
