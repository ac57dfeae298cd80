import { basename, dirname, join } from 'node:path';

const PART = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;
/** Maximum parts of one model. */
const MAX_PARTS = 512;

export interface SplitName {
  /** The name without part number and extension. */
  stem: string;
  /** From 1. */
  part: number;
  parts: number;
}

/** Parses `NAME-00001-of-00003.gguf`. Null for a file that is no part. */
export function splitName(path: string): SplitName | null {
  const match = PART.exec(basename(path));
  if (match === null) return null;
  const [, stem = '', part, parts] = match;
  const name = { stem, part: Number(part), parts: Number(parts) };
  return name.part >= 1 && name.part <= name.parts && name.parts <= MAX_PARTS ? name : null;
}

/** Returns all parts of the model at a path, in order. Returns only the path when it is not split. */
export function splitParts(path: string): string[] {
  const name = splitName(path);
  if (name === null) return [path];
  const digits = (value: number) => String(value).padStart(5, '0');
  return Array.from({ length: name.parts }, (_, index) =>
    join(dirname(path), `${name.stem}-${digits(index + 1)}-of-${digits(name.parts)}.gguf`),
  );
}

/** Returns the display name of a model file, without extension and part number. */
export function modelStem(path: string): string {
  return splitName(path)?.stem ?? basename(path).replace(/\.(gguf|onnx)$/i, '');
}
