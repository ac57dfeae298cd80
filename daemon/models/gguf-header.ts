import { stat } from 'node:fs/promises';
import { readFault } from './read-error.ts';
import { type TensorInfo, tensorDataEnd } from './tensor-sizes.ts';

/** Why a file cannot be used as a model, in words for users; never contains a path. */
export class GgufError extends Error {}

export type Metadata = Readonly<Record<string, unknown>>;

export interface GgufHeader {
  metadata: Metadata;
  tensors: readonly TensorInfo[];
}

/** Shortens the reader's own message, without path and internals. */
function plainReason(error: unknown): string {
  const fault = readFault(error);
  if (fault !== null) return fault;
  if (error instanceof RangeError) return 'the header is damaged or cut off';
  const text = error instanceof Error ? error.message : String(error);
  if (text.includes('magic number')) return 'it is not a GGUF file';
  if (text.includes('unsupported version')) return 'its GGUF version is not supported';
  return `the header is damaged (${text.slice(0, 120)})`;
}

/** Imports the library only here: it loads large lists that no start needs. */
export const readingLibrary = () => import('@huggingface/gguf');

/**
 * Reads the header of a file and checks that a file of `sizeBytes` contains all data that the header declares. The file
 * may be the beginning of one.
 */
export async function readHeader(path: string, sizeBytes: number): Promise<GgufHeader> {
  const { gguf } = await readingLibrary();
  const parsed = await gguf(path, { allowLocalFile: true }).catch((error: unknown) => {
    throw new GgufError(plainReason(error), { cause: error });
  });
  const { tensorInfos, tensorDataOffset, tensorInfoByteRange } = parsed;
  // The reader takes zeros for what is not there.
  if ((tensorInfoByteRange?.[1] ?? 0) > (await fileSize(path)))
    throw new GgufError('the header is damaged or cut off');
  if (tensorDataEnd(tensorInfos, Number(tensorDataOffset)) > sizeBytes) {
    throw new GgufError('the file is shorter than its header states (incomplete download?)');
  }
  return { metadata: parsed.metadata as unknown as Metadata, tensors: tensorInfos };
}

/** Returns the size of a file in bytes. Throws GgufError when it does not exist. */
export async function fileSize(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => {
    throw new GgufError(plainReason(error), { cause: error });
  });
  if (found.isDirectory()) throw new GgufError('it is a folder; give the path of a .gguf file in it');
  if (!found.isFile()) throw new GgufError('it is not a file');
  return found.size;
}

export function asNumber(value: unknown): number | null {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
