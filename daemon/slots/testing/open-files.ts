import { readdirSync, readlinkSync } from 'node:fs';

const FOLDER = '/proc/self/fd';

/** What the descriptors of this process lead to. */
export function openFiles(): string[] {
  return readdirSync(FOLDER).flatMap((fd) => {
    try {
      return [readlinkSync(`${FOLDER}/${fd}`)];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
}
