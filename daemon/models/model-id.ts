import { modelStem } from './split-files.ts';

const MAX_ID = 128;

/**
 * Returns the client-facing id of a file: its name without extension, with special characters replaced by
 * `-`.
 */
export function modelId(path: string): string {
  const slug = modelStem(path)
    .normalize('NFKC')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, MAX_ID);
  return slug === '' ? 'model' : slug;
}

/** Returns the first of `id`, `id-2`, `id-3`, … that is not taken. */
export function uniqueId(id: string, isTaken: (id: string) => boolean): string {
  if (!isTaken(id)) return id;
  let number = 2;
  while (isTaken(`${id}-${number}`)) number += 1;
  return `${id}-${number}`;
}
