import { modelStem } from './split-files.ts';

const MAX_ID = 128;

/**
 * Returns the client-facing id of a file: its name without extension, with special characters replaced by `-`. Letters
 * of every script stay.
 */
export function modelId(path: string): string {
  const slug = modelStem(path)
    .normalize('NFKC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return slug === '' ? 'model' : [...slug].slice(0, MAX_ID).join('');
}

/** Returns the first of `id`, `id-2`, `id-3`, … that is not taken. */
export function uniqueId(id: string, isTaken: (id: string) => boolean): string {
  if (!isTaken(id)) return id;
  let number = 2;
  while (isTaken(`${id}-${number}`)) number += 1;
  return `${id}-${number}`;
}
