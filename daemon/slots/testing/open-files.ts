import { readdirSync, readlinkSync } from 'node:fs';

const FOLDER = '/proc/self/fd';

/** Returns the targets of the open file descriptors of this process. */
export function openFiles(): string[] {
  return readdirSync(FOLDER).flatMap((fd) => {
    try {
      return [readlinkSync(`${FOLDER}/${fd}`)];
    } catch {
      // It was closed in the meantime.
      return [];
    }
  });
}
